// Strided operands: mirrors View of core/step.h. Offsets and strides count elements.
struct View {
  uint offset;
  uint strides[4];
};

uint at(View v, uvec4 i) {
  return v.offset + i.x * v.strides[0] + i.y * v.strides[1] + i.z * v.strides[2] +
         i.w * v.strides[3];
}

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
