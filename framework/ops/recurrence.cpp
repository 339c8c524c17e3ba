#include "framework/ops/recurrence.h"

namespace reprise::ops {

void require_tokens(const OpCall& call, std::size_t x, std::size_t operand, std::size_t own,
                    const Sequences& of) {
  const std::size_t leading = of.batched ? 2 : 1;
  require_rank(call, operand, own + leading);
  const Shape& all = call.inputs[x].shape();
  const Shape& shape = call.inputs[operand].shape();
  for (std::size_t i = 0; i < leading; ++i) {
    require_pair(shape.dim(i) == all.dim(i) && shape.fixed() == all.fixed(), call,
                 "equal sequences and tokens", x, operand);
  }
}

void require_slots(const OpCall& call, std::size_t table, std::size_t x, std::size_t ids,
                   const Sequences& of) {
  require_pair(call.inputs[table].shape().fixed() && call.inputs[table].shape().dim(0) > 0, call,
               "a table with rows, as many as it says", table, x);
  if (call.inputs[ids]) {
    require_rank(call, ids, 1);
    require_pair(call.inputs[ids].shape().dim(0) == of.sequences &&
                     (of.batched || call.inputs[ids].shape().fixed()),
                 call, "one id per sequence", x, ids);
  } else {
    require_pair(call.inputs[table].shape().dim(0) >= of.sequences, call,
                 "a row of the table for each sequence, or ids", table, x);
  }
}

void count_used_slots(const BoundTensor& table, std::int64_t sequences, Cost& cost) {
  const std::uint64_t all = table.spec->bytes();
  const std::uint64_t used = all / static_cast<std::uint64_t>(table.shape().dim(0)) *
                             static_cast<std::uint64_t>(sequences);
  cost.read_bytes += used - all;
  cost.write_bytes += used - all;
}

std::int64_t slot_of(const HostTensor& table, const HostTensor& ids, std::int64_t sequence) {
  const std::int64_t slot = ids ? ids.load_integer(sequence) : sequence;
  return slot >= 0 && slot < table.shape().dim(0) ? slot : -1;
}

RecurrencePush::RecurrencePush(const BoundCall& call, const DeviceTraits& traits, const Shape& x,
                               std::size_t own, std::size_t ids, const Param<std::int32_t>& given)
    : past(given), slots(word(call.tensors[0].shape().dim(0))) {
  const Sequences of(x, own);
  sequences = of.batched ? rows_of(x) : Param<std::int32_t>(1);
  tokens =
      of.batched ? Param<std::int32_t>(static_cast<std::int32_t>(word(of.tokens))) : rows_of(x);
  for (std::size_t i = 0; i < call.op.operands.size(); ++i) {
    const BoundTensor& tensor = call.tensors[i];
    offsets[i] = tensor     ? static_cast<std::uint8_t>(view_of(tensor, traits).offset)
                 : i == ids ? kNoIds
                            : std::uint8_t{0};
    if (tensor) {
      indexable_elements(tensor);
    }
  }
}

}  // namespace reprise::ops
