// What kernels share that carry a state from token to token. See framework/ops/recurrence.h.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/operands.h"

namespace reprise::cpu {

/// An operand of f32 with tokens: [tokens, heads, ..] or [tokens, heads], sequences in front or
/// not.
struct TokenOperand {
  TokenOperand(const HostTensor& tensor, bool batched, bool rows)
      : data(reinterpret_cast<float*>(tensor.data)) {
    const std::size_t first = batched ? 1 : 0;
    sequence = batched ? tensor.spec->strides[0] : 0;
    token = tensor.spec->strides[first];
    head = rows ? tensor.spec->strides[first + 1] : 1;
  }
  float* at(std::int64_t s, std::int64_t t, std::int64_t h) const {
    return data + s * sequence + t * token + h * head;
  }
  float* data;
  std::int64_t sequence, token, head;
};

/// Sequences and the rows of the table that they continue.
struct Recurrence {
  /// `x` has tokens, behind sequences if it is batched.
  Recurrence(const KernelCall& call, const HostTensor& x, const HostTensor& given_ids,
             bool is_batched)
      : table(reinterpret_cast<float*>(call.tensors[0].data)),
        ids(reinterpret_cast<const std::int32_t*>(given_ids.data)),
        slots(call.tensors[0].shape().dim(0)),
        slot_elements(call.tensors[0].shape().elements() / slots),
        batched(is_batched),
        sequences(batched ? x.shape().dim(0) : 1),
        tokens(x.shape().dim(batched ? 1 : 0)),
        past(attribute<Param<std::int32_t>>(call, "past")) {}
  /// Null if the sequence has none.
  float* row_of(std::int64_t s) const {
    const std::int64_t slot = ids == nullptr ? s : ids[s];
    return slot >= 0 && slot < slots ? table + slot * slot_elements : nullptr;
  }
  float* table;
  const std::int32_t* ids;
  std::int64_t slots, slot_elements;
  bool batched;
  std::int64_t sequences, tokens;
  Param<std::int32_t> past;
};

/// Makes NaN of the results of a head of a sequence.
inline void leave_out(const Recurrence& a, const TokenOperand& y, std::int64_t s, std::int64_t h,
                      std::int64_t count) {
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    std::fill_n(y.at(s, t, h), count, std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace reprise::cpu
