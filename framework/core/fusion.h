// FusionRule: two ops that one call of a third can stand for; SiblingRule: calls of one op that a
// call of another can stand for. Ops declare them (ops/fusions.h), passes of the graph apply them
// where nothing else is in the way (graph/passes.h). What is checked there, for every rule alike:
// that the tensor between two is nobody else's, and that what moves may run as late, or as early.
#pragma once
#include <string>
#include <vector>

#include "reprise/backend/step.h"

namespace reprise {

/// Where a tensor of the fused call comes from: `slot` counts the operands, then the results of one
/// of the two calls. A slot that is absent there is absent here.
struct FusedSlot {
  enum class From : std::uint8_t { nowhere, producer, consumer };
  From from = From::nowhere;
  std::uint8_t slot = 0;
};

struct FusionRule {
  std::string_view name;
  /// Whether all results have the bits of the two ops apart, on every device.
  bool exact = true;
  const OpDef* producer = nullptr;
  const OpDef* consumer = nullptr;
  std::uint8_t operand = 0;  // of the consumer: reads result 0 of the producer
  const OpDef* fused = nullptr;
  /// Operands, then results, of the fused op. The tensor between the two still gets its values if
  /// it is among them, and other nodes may read it then.
  std::span<const FusedSlot> slots;
  /// Whether the rule is about such a pair: of others nothing is reported. Null: of all.
  bool (*about)(const BoundCall& producer, const BoundCall& consumer) = nullptr;
  /// Why these two are not fused: shapes, attributes, what kernels there are. Empty if they are.
  /// Dtypes and layouts are checked against the schema of the fused op, and its lowering is tried:
  /// a rule need not repeat them.
  std::string (*refuses)(const BoundCall& producer, const BoundCall& consumer,
                         const DeviceTraits& traits) = nullptr;
  /// The attribute bytes of the fused op.
  std::vector<std::byte> (*attributes)(const BoundCall& producer,
                                       const BoundCall& consumer) = nullptr;
};

/// Calls of one op that read the same operand, which one call of another op can stand for, in the
/// place of the first. What is checked for every rule: that the others may run as early as it.
struct SiblingRule {
  std::string_view name;
  const OpDef* op = nullptr;  // of each of them, without attributes
  std::uint8_t shared = 0;    // the operand they have in common
  std::uint8_t own = 1;       // the one that each has for itself
  /// Operands: the shared one, then one of each call. Results: one of each call. Those of calls
  /// that are not there, the last ones, are optional.
  const OpDef* fused = nullptr;
  /// Why these two do not go together: shapes, what kernels there are. Empty if they do.
  std::string (*refuses)(const BoundCall& first, const BoundCall& other,
                         const DeviceTraits& traits) = nullptr;
};

struct FusionRules {
  std::span<const FusionRule> pairs;
  std::span<const SiblingRule> siblings;
};

}  // namespace reprise
