// What a product is added to. Define `uint adds`, `uint residual_offset` and the buffer `residual`
// first; it has the strides of y, and `distance` counts from its first element.
// The product is rounded before: the bits are those of two ops.
float with_residual(float product, uint distance) {
  if (adds == 0u) {
    return product;
  }
  precise float sum = residual[residual_offset + distance] + product;
  return sum;
}
