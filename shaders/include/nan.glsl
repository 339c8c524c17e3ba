// NaN by its bits: drivers may ignore it in comparisons and in isnan().
bool is_nan(float v) { return (floatBitsToUint(v) & 0x7FFFFFFFu) > 0x7F800000u; }
float make_nan() { return uintBitsToFloat(0x7FC00000u); }
