// FusionRule: two ops that one call of a third can stand for. Ops declare them (ops/fusions.h), a
// pass of the graph applies them where nothing else is in the way (graph/passes.h). What is checked
// there, for every rule alike: that the tensor between the two is nobody else's, and that the first
// may run as late as the second.
#pragma once
#include <string>
#include <vector>

#include "reprise/core/step.h"

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
  /// Why these two are not fused: shapes, attributes, what kernels there are. Empty if they are.
  /// Dtypes and layouts are checked against the schema of the fused op, and its lowering is tried:
  /// a rule need not repeat them.
  std::string (*refuses)(const BoundCall& producer, const BoundCall& consumer,
                         const DeviceTraits& traits) = nullptr;
  /// The attribute bytes of the fused op.
  std::vector<std::byte> (*attributes)(const BoundCall& producer,
                                       const BoundCall& consumer) = nullptr;
};

}  // namespace reprise
