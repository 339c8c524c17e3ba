// The calls that the rows of an op make, to be made again with other values and other operands.
#pragma once
#include <optional>

#include "framework/core/op.h"
#include "tests/testing.h"

namespace reprise::testing {

/// Attributes are constants; what a row reads from the state is what the field has at first.
struct OpCallOfRow {
  std::string row;
  const OpDef* op;
  std::vector<std::optional<TensorSpec>> operands;  // contiguous; empty: absent
  Bytes attributes;
};
/// Those of all rows of the op.
std::vector<OpCallOfRow> calls_of(const OpDef& op);

bool may_be_dynamic(const Attribute& attribute);
/// The call with another value or word of a Param.
OpCallOfRow with(OpCallOfRow call, const Attribute& attribute, std::uint32_t value,
                 std::uint32_t word);
std::pair<std::uint32_t, std::uint32_t> value_and_word(const OpCallOfRow& call,
                                                       const Attribute& attribute);

/// Random floats from `low` to 1; integers that differ.
Bytes random_content(std::mt19937_64& rng, const TensorSpec& spec, double low = -1);

}  // namespace reprise::testing
