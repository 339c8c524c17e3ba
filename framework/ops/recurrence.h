// What ops share that carry a state from token to token: a row of a persistent table per sequence,
// which continues where the last call ended. Operands are [tokens, ..] of one sequence or
// [sequences, tokens, ..]; the table is [slots, ..], and `ids` [sequences] say whose row is whose.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {

/// Of x, whose shape has `own` dimensions behind the tokens.
struct Sequences {
  Sequences(const Shape& x, std::size_t own)
      : batched(x.rank() == own + 2),
        sequences(batched ? x.dim(0) : 1),
        tokens(x.dim(batched ? 1 : 0)) {}
  bool batched;
  std::int64_t sequences;
  std::int64_t tokens;
};

/// Throws invalid_argument unless the operand has `own` dimensions behind the sequences and tokens
/// of operand `x`.
void require_tokens(const OpCall& call, std::size_t x, std::size_t operand, std::size_t own,
                    const Sequences& of);
/// The same for ids [sequences], and for a table that has a row for each sequence if there are
/// none.
void require_slots(const OpCall& call, std::size_t table, std::size_t x, std::size_t ids,
                   const Sequences& of);

/// Of a cost that counts the whole table, leaves the rows that the sequences use.
void count_used_slots(const BoundTensor& table, std::int64_t sequences, Cost& cost);

/// The row of the table that a sequence continues; -1 if it has none.
std::int64_t slot_of(const HostTensor& table, const HostTensor& ids, std::int64_t sequence);

/// For references over x and y [.., heads, columns]: f(sequence, head, column, state) for one
/// column after another, where `state` are its `elements` of the table, found by at(slot, head,
/// column, element), zeros where nothing is past. Columns of sequences without a slot become NaN.
template <class At, class F>
void for_each_state(const HostCall& call, const HostTensor& x, std::size_t ids,
                    const Param<std::int32_t>& past, std::int64_t elements, At&& at, F&& f) {
  const HostTensor& table = call.tensors[0];
  const HostTensor& y = call.tensors.back();
  const Sequences of(x.shape(), 2);
  const bool begins = call.value(past) <= 0;
  const std::int64_t heads = table.shape().dim(1);
  const std::int64_t columns = x.shape().back();
  std::vector<double> state(static_cast<std::size_t>(elements));
  for (std::int64_t unit = 0; unit < (of.tokens == 0 ? 0 : of.sequences * heads * columns);
       ++unit) {
    const std::int64_t column = unit % columns;
    const std::int64_t head = unit / columns % heads;
    const std::int64_t sequence = unit / columns / heads;
    const std::int64_t slot = slot_of(table, call.tensors[ids], sequence);
    if (slot < 0) {
      for (std::int64_t t = 0; t < of.tokens; ++t) {
        y.store(y.row(sequence, t, head) + column, std::numeric_limits<double>::quiet_NaN());
      }
      continue;
    }
    for (std::int64_t i = 0; i < elements; ++i) {
      state[static_cast<std::size_t>(i)] = begins ? 0 : table.load(at(slot, head, column, i));
    }
    f(sequence, head, column, state);
    for (std::int64_t i = 0; i < elements; ++i) {
      table.store(at(slot, head, column, i), state[static_cast<std::size_t>(i)]);
    }
  }
}

/// Mirrors RECURRENCE of shaders/include/recurrence.glsl.
struct RecurrencePush {
  Param<std::int32_t> sequences;
  Param<std::int32_t> tokens;
  Param<std::int32_t> past;
  std::uint32_t first_token = 0;
  std::uint32_t token_count = 0;
  std::uint32_t slots = 0;
  // A byte for each operand; kNoIds for ids that are absent.
  std::array<std::uint8_t, 8> offsets{};
  static constexpr std::uint8_t kNoIds = 0xFF;

  RecurrencePush(const BoundCall& call, const DeviceTraits& traits, const Shape& x, std::size_t own,
                 std::size_t ids, const Param<std::int32_t>& past);
};

/// Elements between sequences, between tokens and, of an operand with two dimensions behind them,
/// between those of the first one.
template <std::size_t kOwn>
std::array<std::uint32_t, kOwn + 1> token_strides(const BoundTensor& tensor,
                                                  const DeviceTraits& traits) {
  static_assert(kOwn >= 1 && kOwn <= 2);
  const View view = view_of(tensor, traits);
  std::array<std::uint32_t, kOwn + 1> strides{};
  for (std::size_t i = 0; i <= kOwn; ++i) {
    strides[i] = view.strides[Shape::kMaxRank - kOwn - 2 + i];
  }
  return strides;
}

/// A dispatch of `units` invocations per sequence for as many tokens as loops may take that need so
/// many turns for each, the one that ends a loop counted: all of them, but on software drivers.
/// `push` begins with a RecurrencePush.
template <class Push>
void dispatch_tokens(const BoundCall& call, const DeviceTraits& traits, StepList& steps,
                     const Shape& x, const Sequences& of, std::int64_t units, std::int64_t turns,
                     std::string_view shader, Push push) {
  if (of.sequences * units == 0) {
    return;
  }
  require_loop_limit(call, traits, turns, turns);
  const std::int64_t max = traits.cpu_type ? kMaxTurns / turns : of.tokens;
  const auto invocations = static_cast<std::uint64_t>(of.sequences * units);
  // Where tokens are an extent, all invocations run unless there are none.
  const auto tile = of.batched ? 1U : word(std::max<std::int64_t>(of.tokens, 1));
  const Groups groups = groups_for({x, invocations, tile}, traits.workgroup_size);
  for (std::int64_t first = 0; first < of.tokens; first += max) {
    push.recurrence.first_token = word(first);
    push.recurrence.token_count = word(std::min(max, of.tokens - first));
    steps.dispatch(call, traits, {shader, {traits.workgroup_size}, 1}, groups, push);
  }
}

}  // namespace reprise::ops
