// Row ids of 32 or 64 bits in a buffer of words. Define IDS(i) as word i of that buffer first.

// True if the id at word `at` is in [0, rows); `id` is set then. rows is below 2^31.
bool load_id(uint at, uint id_words, uint rows, out uint id) {
  id = IDS(at);
  return id < rows && (id_words == 1u || IDS(at + 1u) == 0u);
}
