// Fusion: a node that writes a tensor and the one that reads it become one call, which runs in the
// place of the second. That moves the first one later, past whatever is between them.
#include <algorithm>

#include "framework/graph/passes/fusing.h"
#include "framework/graph/schedule.h"

namespace reprise {
namespace {

class Fuse : Fusing {
 public:
  Fuse(const ComputeGraph& graph, const DeviceTraits& traits, Schedule& schedule)
      : Fusing(graph, traits, schedule), reads_(graph.storages.size(), 0) {
    for (const std::uint32_t n : schedule.order) {
      for (const Use& use : call_at(n).uses) {
        reads_[storage_of(use)] += reads(use.access) ? 1U : 0U;
      }
    }
  }

  void apply(const FusionRule& rule) {
    std::vector<std::size_t> writer(graph_.storages.size(), kNowhere);  // last, by place in order
    for (std::size_t at = 0; at < schedule_.order.size(); ++at) {
      const std::uint32_t node = schedule_.order[at];
      if (call_at(node).op == rule.consumer) {
        consider(rule, at, writer);
      }
      for (const Use& use : call_at(node).uses) {
        if (writes(use.access)) {
          writer[storage_of(use)] = at;
        }
      }
    }
    std::erase(schedule_.order, kNoIndex);
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  struct Pair {
    const FusionRule& rule;
    std::size_t from, to;  // places in the order
    std::uint32_t producer_node, consumer_node;
    ScheduledCall producer, consumer;
    const Use& result;   // what the producer writes
    const Use& operand;  // the same, as the consumer reads it
    /// Whether the tensor between them is also a result of the fused call.
    bool keeps() const {
      return std::ranges::any_of(rule.slots, [&](const FusedSlot& slot) {
        return slot.from == FusedSlot::From::producer && slot.slot == result.slot;
      });
    }
  };

  void consider(const FusionRule& rule, std::size_t at, std::span<const std::size_t> writer) {
    const std::uint32_t node = schedule_.order[at];
    const ScheduledCall consumer = call_at(node);
    const Use* operand = consumer.use_at(rule.operand);
    if (operand == nullptr || writer[storage_of(*operand)] == kNowhere) {
      return;
    }
    const std::size_t from = writer[storage_of(*operand)];
    const std::uint32_t producer_node = schedule_.order[from];
    const ScheduledCall producer = call_at(producer_node);
    const Use* result =
        producer.op == rule.producer ? producer.use_at(producer.op->operands.size()) : nullptr;
    if (result == nullptr || storage_of(*result) != storage_of(*operand)) {
      return;
    }
    if (rule.about != nullptr &&
        !rule.about(bound(producer_node, producer).call(), bound(node, consumer).call())) {
      return;
    }
    const Pair pair{rule, from, at, producer_node, node, producer, consumer, *result, *operand};
    FusedCall fused;
    const std::string against = reason_against(pair, fused);
    schedule_.decisions.push_back(
        {"fuse", rule.name, node, against.empty(),
         against.empty() ? "one call with " + name_of(producer, producer_node) : against});
    if (against.empty()) {
      --reads_[storage_of(*result)];
      schedule_.fused.erase(producer_node);
      schedule_.order[from] = kNoIndex;
      schedule_.fused[node] = std::move(fused);
    }
  }

  /// Why they stay two; if it is empty, `fused` is what takes their place.
  std::string reason_against(const Pair& pair, FusedCall& fused) const {
    const NodeCall producer = bound(pair.producer_node, pair.producer);
    const NodeCall consumer = bound(pair.consumer_node, pair.consumer);
    std::string against = tensor_between(pair);
    if (against.empty()) {
      against = pair.rule.refuses(producer.call(), consumer.call(), traits_);
    }
    if (against.empty()) {
      against = nodes_between(pair.from, pair.to, pair.producer);  // it runs after them instead
    }
    if (against.empty()) {
      fused = fuse(pair, producer.call(), consumer.call());
      against = operands_of(fused);
    }
    return against.empty() ? lowering_of(pair.consumer_node, fused) : against;
  }

  /// It has to be nobody else's, unless the fused call writes it too, and the consumer has to read
  /// it as it is.
  std::string tensor_between(const Pair& pair) const {
    const GraphTensor& written = graph_.tensors[pair.result.tensor];
    const GraphTensor& read = graph_.tensors[pair.operand.tensor];
    const Storage& storage = graph_.storages[written.storage];
    const std::string what = "the result of " + std::string(pair.producer.op->name);
    for (const Use& use : pair.consumer.uses) {
      if (use.slot != pair.operand.slot && storage_of(use) == written.storage) {
        return "it reads " + what + " in another way too";
      }
    }
    if (!pair.keeps() && storage.output) {
      return what + " is an output of the graph";
    }
    if (!pair.keeps() && reads_[written.storage] != 1) {
      return "another node reads " + what;
    }
    if (read.offset != written.offset || !read.spec.contiguous() ||
        read.spec.bytes() != written.spec.bytes() || written.spec.bytes() != storage.bytes) {
      return "it reads a part of " + what + ", or in another order";
    }
    return {};
  }

  FusedCall fuse(const Pair& pair, const BoundCall& producer, const BoundCall& consumer) const {
    const OpDef& op = *pair.rule.fused;
    FusedCall fused{&op, {}, pair.rule.attributes(producer, consumer), {}};
    for (std::size_t i = 0; i < pair.rule.slots.size(); ++i) {
      const FusedSlot& slot = pair.rule.slots[i];
      const Use* use = slot.from == FusedSlot::From::producer   ? pair.producer.use_at(slot.slot)
                       : slot.from == FusedSlot::From::consumer ? pair.consumer.use_at(slot.slot)
                                                                : nullptr;
      if (use != nullptr) {
        fused.uses.push_back({use->tensor, static_cast<std::uint8_t>(i),
                              i < op.operands.size() ? op.operands[i].access : Access::write});
      }
    }
    if (op.reads_state()) {
      fused.uses.push_back(
          {graph_.state_tensor, static_cast<std::uint8_t>(pair.rule.slots.size()), Access::read});
    }
    const std::uint32_t nodes[] = {pair.producer_node, pair.consumer_node};
    fused.members = members_of(nodes);
    return fused;
  }

  std::vector<std::uint32_t> reads_;  // by storage: uses that read it
};

}  // namespace

void fuse_nodes(const ComputeGraph& graph, const DeviceTraits& traits, const PassOptions& options,
                const FusionRules& rules, Schedule& schedule) {
  Fuse fuse(graph, traits, schedule);
  for (const FusionRule& rule : rules.pairs) {
    if (rule.exact ? options.fuse : options.fuse_approximate) {
      fuse.apply(rule);
    }
  }
}

}  // namespace reprise
