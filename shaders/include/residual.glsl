// What a product is added to. Define `uint adds`, `uint residual_offset` and the buffers `residual`
// and `y` with `View yv` first.

// Values of `adds`.
const uint kAddsNothing = 0u;
const uint kAddsAll = 1u;  // the residual has the strides of y
const uint kAddsRow = 2u;  // one row for all of them

// Writes element `p` of the product. It is rounded before: the bits are those of two ops.
void store(uvec4 p, float product) {
  uint distance = distance_to(yv, p);
  precise float sum = product;
  if (adds != kAddsNothing) {
    sum = residual[residual_offset + (adds == kAddsRow ? p.w : distance)] + product;
  }
  y[yv.offset + distance] = sum;
}
