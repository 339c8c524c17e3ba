// A product with up to 8 rows of x, for GPUs. A workgroup computes COLUMNS columns of y for all of
// them; its invocations take neighbouring units of k, so loads of 16 bytes are contiguous over a
// subgroup, and the sums are combined at the end. Per unit (4 columns of f32, 8 of f16, 16 of
// blocks) an invocation reads COLUMNS * 16 (f32, f16), 22 (q8_0) or 14 (q4_0) bytes of w, about,
// and ROWS times 16 bytes of x per 4 columns (from a cache), for COLUMNS * ROWS products per
// column.
// Include product_units.glsl first, and define store() for a place of the products. Where matrices
// of weights may be absent, SOME_ABSENT: is_bound() for the leading indices of a place, and
// store_absent() there; a workgroup leaves as a whole.

layout(constant_id = 3) const uint COLUMNS = 1;

const uint kSums = COLUMNS * ROWS;
shared float parts[kMostSubgroups * kSums];

void main() {
  uint groups = (shape[3] + COLUMNS - 1u) / COLUMNS;
  uint column = group_index() % groups * COLUMNS;
  uint rest = group_index() / groups;
  uint i1 = rest % shape[1];
  uint i0 = rest / shape[1];
  if (i0 >= shape[0]) {
    return;
  }
#ifdef SOME_ABSENT
  if (!is_bound(i0, i1)) {
    for (uint s = gl_LocalInvocationID.x; s < kSums; s += gl_WorkGroupSize.x) {
      if (column + s % COLUMNS < shape[3]) {
        store_absent(uvec4(i0, i1, s / COLUMNS, column + s % COLUMNS));
      }
    }
    return;
  }
#endif
  uint w_matrix = matrix_of_weights(i0, i1);
  uint x_matrix = at(xv, uvec4(i0, i1, 0, 0));
  uint w_row[COLUMNS];
  uint x_row[ROWS];
  float sums[kSums];
  for (uint c = 0; c < COLUMNS; ++c) {
    w_row[c] = row_of_w(w_matrix, column + c);
  }
  for (uint r = 0; r < ROWS; ++r) {
    x_row[r] = row_of_x(x_matrix, r);
  }
  for (uint s = 0; s < kSums; ++s) {
    sums[s] = 0.0;
  }
  uint units = (k + kUnit - 1u) / kUnit;
  for (uint unit = gl_LocalInvocationID.x; unit < units; unit += gl_WorkGroupSize.x) {
    vec4 weights[COLUMNS][kUnitFours];
    float scales[COLUMNS];
    for (uint c = 0; c < COLUMNS; ++c) {
      scales[c] = load_unit(w_row[c], unit, weights[c]);
    }
    for (uint r = 0; r < ROWS; ++r) {
      vec4 values[kUnitFours];
      for (uint i = 0; i < kUnitFours; ++i) {
        values[i] = load_x(x_row[r], unit_column(unit, i));
      }
      for (uint c = 0; c < COLUMNS; ++c) {
        float sum = 0.0;
        for (uint i = 0; i < kUnitFours; ++i) {
          sum = add_products(values[i], weights[c][i], sum);
        }
        sums[r * COLUMNS + c] = fma(scales[c], sum, sums[r * COLUMNS + c]);
      }
    }
  }
  for (uint s = 0; s < kSums; ++s) {
    float part = subgroupAdd(sums[s]);
    if (subgroupElect()) {
      parts[gl_SubgroupID * kSums + s] = part;
    }
  }
  barrier();
  for (uint s = gl_LocalInvocationID.x; s < kSums; s += gl_WorkGroupSize.x) {
    float sum = 0.0;
    for (uint i = 0; i < gl_NumSubgroups; ++i) {
      sum += parts[i * kSums + s];
    }
    if (column + s % COLUMNS < shape[3]) {
      store(uvec4(i0, i1, s / COLUMNS, column + s % COLUMNS), sum);
    }
  }
}
