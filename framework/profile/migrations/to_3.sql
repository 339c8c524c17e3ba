-- Version 2 to 3: all causes of a barrier. Older files know the first one.
CREATE TABLE barrier_causes(graph_id INT NOT NULL, barrier INT NOT NULL, idx INT NOT NULL, src_step INT NOT NULL, kind TEXT NOT NULL, pool_idx INT NOT NULL, offset_bytes INT NOT NULL, size_bytes INT NOT NULL,
  PRIMARY KEY(graph_id,barrier,idx)) WITHOUT ROWID;
INSERT INTO barrier_causes SELECT graph_id, ordinal, 0, cause_src, kind, pool_idx, offset_bytes, size_bytes FROM barriers
  WHERE cause_src IS NOT NULL AND kind IS NOT NULL AND pool_idx IS NOT NULL AND offset_bytes IS NOT NULL AND size_bytes IS NOT NULL;
