// Unsigned integers of 64 bits as uvec2(low, high): not every device has them.
uvec2 wide_add(uvec2 a, uvec2 b) {
  uint carry;
  uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

uvec2 wide_subtract(uvec2 a, uvec2 b) {
  uint borrow;
  uint low = usubBorrow(a.x, b.x, borrow);
  return uvec2(low, a.y - b.y - borrow);
}

bool wide_less(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uvec2 wide_product(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return uvec2(low, high);
}

// The bits of a 64-bit sum of counts of 1, 2^10 and 2^20.
uvec2 wide_of_tens(uint ones, uint thousands, uint millions) {
  uvec2 sum = wide_add(uvec2(ones, 0u), uvec2(thousands << 10, thousands >> 22));
  return wide_add(sum, uvec2(millions << 20, millions >> 12));
}
