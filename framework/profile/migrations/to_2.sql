-- Version 1 to 2: columns and tables that nothing ever filled go or get their final form.
ALTER TABLE devices DROP COLUMN subgroup_size;
ALTER TABLE devices DROP COLUMN max_shared_bytes;
ALTER TABLE kernels DROP COLUMN warm_ns;
ALTER TABLE nodes DROP COLUMN fused_from;
ALTER TABLE barriers DROP COLUMN src_access;
ALTER TABLE barriers DROP COLUMN dst_access;
ALTER TABLE recordings DROP COLUMN compile_ns;
ALTER TABLE recordings DROP COLUMN upload_ns;
ALTER TABLE buffers DROP COLUMN memory_type;
ALTER TABLE buffers DROP COLUMN heap;
ALTER TABLE buffers DROP COLUMN mem_flags;
ALTER TABLE recording_pools DROP COLUMN generation;
ALTER TABLE replays DROP COLUMN queue;
ALTER TABLE replays DROP COLUMN tokens;
ALTER TABLE events DROP COLUMN detail_json;
DROP TABLE memory_samples;
DROP TABLE counter_values;
DROP TABLE counters;
DROP TABLE tensor_stats;
DROP TABLE snapshots;
DROP TABLE comparisons;
CREATE TABLE memory_samples(id INTEGER PRIMARY KEY, run_id INT NOT NULL, device_id INT NOT NULL, t_ns INT NOT NULL, heap INT, purpose TEXT, used_bytes INT NOT NULL, peak_bytes INT NOT NULL, buffers INT NOT NULL,
  size_bytes INT, driver_used_bytes INT, driver_budget_bytes INT, CHECK((heap IS NULL)<>(purpose IS NULL)));
CREATE TABLE counters(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, UNIQUE(name,unit));
CREATE TABLE counter_values(id INTEGER PRIMARY KEY, counter_id INT NOT NULL REFERENCES counters(id), run_id INT NOT NULL, t_ns INT NOT NULL, value REAL NOT NULL);
CREATE TABLE tensor_stats(replay_id INT NOT NULL, graph_id INT NOT NULL, tensor_idx INT NOT NULL, node_idx INT NOT NULL, n INT NOT NULL, min REAL, max REAL, mean REAL, rms REAL, nan_count INT NOT NULL, inf_count INT NOT NULL, zero_count INT NOT NULL,
  hist BLOB, PRIMARY KEY(replay_id,tensor_idx)) WITHOUT ROWID;
CREATE TABLE snapshots(id INTEGER PRIMARY KEY, replay_id INT NOT NULL, graph_id INT NOT NULL, tensor_idx INT NOT NULL, node_idx INT NOT NULL, t_ns INT NOT NULL, dtype TEXT NOT NULL, shape_json TEXT NOT NULL, nbytes INT NOT NULL,
  content_hash TEXT NOT NULL, data BLOB, external_path TEXT, CHECK((data IS NULL)<>(external_path IS NULL)));
CREATE TABLE comparisons(id INTEGER PRIMARY KEY, run_id INT NOT NULL, t_ns INT NOT NULL, graph_id INT NOT NULL, recording_id INT NOT NULL, node_idx INT, tensor_idx INT, name TEXT NOT NULL, reference TEXT NOT NULL,
  max_abs REAL, max_rel REAL, rmse REAL, cosine REAL, first_bad_index INT, input_differs INT, tolerance REAL NOT NULL, pass INT NOT NULL);
