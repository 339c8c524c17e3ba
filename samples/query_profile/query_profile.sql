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
SELECT r.seq AS replay, round(r.device_ns / 1e3, 1) AS us, hex(r.state) AS state
FROM replays r JOIN recordings c ON c.id = r.recording_id
WHERE r.warm_up = 0 AND c.run_id = (SELECT max(run_id) FROM recordings)
ORDER BY r.device_ns DESC LIMIT 1;

-- What lies in the arena during the step that needs most of it.
WITH last(graph_id) AS (SELECT graph_id FROM recordings ORDER BY id DESC LIMIT 1),
     plan AS (SELECT p.* FROM v_memory_plan p, last WHERE p.graph_id = last.graph_id
              AND p.alias_of IS NULL),
     peak(step, bytes) AS (SELECT s.idx, sum(p.nbytes) FROM steps s, last JOIN plan p
              ON s.idx BETWEEN p.first_use AND p.last_use
              WHERE s.graph_id = last.graph_id GROUP BY s.idx ORDER BY 2 DESC, 1 LIMIT 1)
SELECT p.name AS tensor, p.nbytes AS bytes, p.first_use, p.last_use, peak.step AS at_step
FROM plan p, peak WHERE peak.step BETWEEN p.first_use AND p.last_use ORDER BY bytes DESC;
