// Which row of the table a sequence continues, and which tokens this dispatch computes. Bind `ids`
// and define IDS_OPERAND, the place of ids among the offsets, first; see recurrence.glsl.
const uint kNoIds = 0xFFu;

// Elements before the first one of an operand.
uint offset_of(uint operand) { return offsets[operand / 4u] >> operand % 4u * 8u & 0xFFu; }

// The row of the table of a sequence; false if it has none.
bool slot_of(uint sequence, out uint slot) {
  uint offset = offset_of(IDS_OPERAND);
  slot = offset == kNoIds ? sequence : uint(ids[offset + sequence]);
  return slot < slots;
}

// The token after the last one of this dispatch.
uint end_token() { return min(first_token + token_count, param_bits(tokens)); }

// Whether a sequence begins here, so that its state counts as zeros.
bool begins() { return first_token == 0u && param_int(past) <= 0; }

float not_a_number() { return uintBitsToFloat(0x7FC00000u); }
