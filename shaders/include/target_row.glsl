// Which row of a table a row of values goes to. Include ids.glsl and state.glsl and define
// TARGET_ID_WORDS (0: no ids), TARGET_ROWS, TARGET_POSITION and the push constants capacity,
// ids_offset and window first.

// The table row of row r of values; false if it is outside the table.
bool target_row(uint r, out uint row) {
  if (TARGET_ID_WORDS != 0u) {
    return load_id(ids_offset + r * TARGET_ID_WORDS, TARGET_ID_WORDS, capacity, row);
  }
  row = param_bits(TARGET_POSITION) + r;
  // The sum wraps for negative positions; it is in range again from row -position on.
  bool negative = param_int(TARGET_POSITION) < 0 && r < uint(-param_int(TARGET_POSITION));
  int ring = param_int(window);
  if (ring > 0) {
    // The row after a full turn takes its place.
    if (r + uint(ring) < TARGET_ROWS) {
      return false;
    }
    row %= uint(ring);
  }
  return !negative && row < capacity;
}
