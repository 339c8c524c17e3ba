-- The questions of query_profile.cpp in SQL: sqlite3 profile.db ".read query_profile.sql"
.headers on
.mode column

-- The slowest layers of the last run, by the first part of the scope.
SELECT substr(scope || '/', 1, instr(scope || '/', '/') - 1) AS layer, count(*) AS nodes,
       round(sum(p50_us), 1) AS us
FROM v_top_nodes
WHERE scope <> '' AND run_id = (SELECT max(run_id) FROM node_stats)
GROUP BY layer ORDER BY us DESC LIMIT 5;

-- The slowest replay of the last run and the state block it left.
SELECT r.seq AS replay, round(r.device_ns / 1e3, 1) AS us,
       (SELECT group_concat(field || '=' || value, ' ') FROM v_replay_state
        WHERE replay_id = r.id AND owner <> 'derived') AS state
FROM replays r JOIN recordings c ON c.id = r.recording_id
WHERE r.warm_up = 0 AND c.run_id = (SELECT max(run_id) FROM recordings)
ORDER BY r.device_ns DESC LIMIT 1;

-- What lies in the arena during the step that needs most of it.
SELECT p.name AS tensor, p.nbytes AS bytes, p.first_use, p.last_use, m.step AS at_step
FROM v_memory_peak m JOIN v_memory_plan p
     ON p.graph_id = m.graph_id AND m.step BETWEEN p.first_use AND p.last_use
WHERE p.alias_of IS NULL AND m.graph_id = (SELECT graph_id FROM recordings ORDER BY id DESC LIMIT 1)
ORDER BY bytes DESC;
