// x of a * x = b by forward substitution, a lower triangular: one invocation solves one column, row
// after row, and reads back what it wrote. Reads n^2 / 2 elements of a and as many of x, n of b.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) buffer X { float x[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View av;
  View bv;
  uint unit;
};

void main() {
  uint i = linear_index();
  uint column = i % shape[3];
  uint batch = i / shape[3];
  if (batch >= shape[0] * shape[1]) {
    return;
  }
  uvec4 place = uvec4(batch / shape[1], batch % shape[1], 0u, 0u);
  uint a_row = at(av, place);
  uint b_at = at(bv, place) + column * bv.strides[3];
  uint first = batch * shape[2] * shape[3] + column;
  for (uint row = 0u; row < shape[2]; ++row) {
    float rest = b[b_at + row * bv.strides[2]];
    uint at_x = first;
    for (uint k = 0u; k < row; ++k, at_x += shape[3]) {
      rest = fma(-a[a_row + k * av.strides[3]], x[at_x], rest);
    }
    x[at_x] = unit != 0u ? rest : rest / a[a_row + row * av.strides[3]];
    a_row += av.strides[2];
  }
}
