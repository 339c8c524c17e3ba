// Where the first element of a row is, in a shape padded to four dimensions.
uvec4 row_position(uint row, uint shape[4]) {
  uvec4 p = uvec4(0u, 0u, row % shape[2], 0u);
  row /= shape[2];
  p.y = row % shape[1];
  p.x = row / shape[1];
  return p;
}

uint row_count(uint shape[4]) { return shape[0] * shape[1] * shape[2]; }
