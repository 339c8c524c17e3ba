// The variants of binary.comp and binary.lanes.comp.
float combine(float a, float b) {
#if defined(VARIANT_ADD)
  return a + b;
#elif defined(VARIANT_DIV)
  return a / b;
#elif defined(VARIANT_MUL)
  return a * b;
#else
  return a - b;
#endif
}
