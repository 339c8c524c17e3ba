// Strided operands: mirrors View of core/step.h. Offsets and strides count elements; the offset of
// an operand in blocks counts halves of 32-bit words.
struct View {
  uint offset;
  uint strides[4];
};

// Elements from the first one of the operand to index `i`.
uint distance_to(View v, uvec4 i) {
  return i.x * v.strides[0] + i.y * v.strides[1] + i.z * v.strides[2] + i.w * v.strides[3];
}

uint at(View v, uvec4 i) { return v.offset + distance_to(v, i); }

// Position of flat index `i` in a shape padded to four dimensions.
uvec4 unflatten(uint i, uint shape[4]) {
  uvec4 p;
  p.w = i % shape[3];
  i /= shape[3];
  p.z = i % shape[2];
  i /= shape[2];
  p.y = i % shape[1];
  p.x = i / shape[1];
  return p;
}
