// Groups: nodes that read the same operand become one call, which runs in the place of the first.
// That moves the others earlier, past whatever is between them.

#include "framework/graph/passes/fusing.h"

namespace reprise {
namespace {

/// How far behind the first one others are looked for: what moves forward lives longer.
constexpr std::size_t kGroupWindow = 32;

class Group : Fusing {
 public:
  Group(const ComputeGraph& graph, const DeviceTraits& traits, Schedule& schedule)
      : Fusing(graph, traits, schedule), written_(graph.storages.size(), false) {
    for (const std::uint32_t n : schedule.order) {
      for (const Use& use : call_at(n).uses) {
        written_[storage_of(use)] = written_[storage_of(use)] || writes(use.access);
      }
    }
  }

  void apply(const SiblingRule& rule) {
    std::vector<Siblings> groups;
    std::map<std::uint32_t, std::size_t> last;  // group, by the tensor that its nodes share
    for (std::size_t at = 0; at < schedule_.order.size(); ++at) {
      const ScheduledCall call = call_at(schedule_.order[at]);
      const Use* shared = call.op == rule.op ? call.use_at(rule.shared) : nullptr;
      if (shared == nullptr) {
        continue;
      }
      const auto known = last.find(shared->tensor);
      if (known == last.end() || !join(rule, groups[known->second], at)) {
        last[shared->tensor] = groups.size();
        groups.push_back({{at}, {}});
      }
    }
    for (Siblings& siblings : groups) {
      replace(siblings);
    }
    std::erase(schedule_.order, kNoIndex);
  }

 private:
  struct Siblings {
    std::vector<std::size_t> places;  // in the order
    FusedCall call;                   // of them, if they are several
  };

  /// Whether the node there is one of them from now on.
  bool join(const SiblingRule& rule, Siblings& siblings, std::size_t at) {
    const std::size_t first = siblings.places.front();
    if (siblings.places.size() == rule.fused->results.size()) {
      return false;
    }
    Siblings wider = siblings;
    wider.places.push_back(at);
    wider.call = fuse(rule, wider.places);
    const std::uint32_t first_node = schedule_.order[first];
    const std::uint32_t node = schedule_.order[at];
    const std::string against = reason_against(rule, wider);
    schedule_.decisions.push_back(
        {"fuse", rule.name, node, against.empty(),
         against.empty() ? "one call with " + name_of(call_at(first_node), first_node) : against});
    if (!against.empty()) {
      return false;
    }
    siblings = std::move(wider);
    return true;
  }

  /// Why the last one does not run with the others, in the place of the first.
  std::string reason_against(const SiblingRule& rule, const Siblings& siblings) const {
    const std::size_t first = siblings.places.front();
    const std::size_t at = siblings.places.back();
    const std::uint32_t first_node = schedule_.order[first];
    const ScheduledCall call = call_at(schedule_.order[at]);
    std::string against = rule.refuses(bound(first_node, call_at(first_node)).call(),
                                       bound(schedule_.order[at], call).call(), traits_);
    if (against.empty() && at - first > kGroupWindow) {
      against = joined_text("more than (", kGroupWindow, ") nodes lie between them");
    }
    if (against.empty() && written_[storage_of(*call.use_at(rule.own))]) {
      // To wait for it earlier could take a barrier more.
      against = "a node writes its " + std::string(rule.op->operands[rule.own].name);
    }
    if (against.empty()) {
      against = nodes_between(first, at, call);
    }
    if (against.empty()) {
      against = operands_of(siblings.call);
    }
    return against.empty() ? lowering_of(first_node, siblings.call) : against;
  }

  FusedCall fuse(const SiblingRule& rule, std::span<const std::size_t> places) const {
    FusedCall fused{rule.fused, {}, {}, {}};
    std::vector<Use> results;
    std::vector<std::uint32_t> nodes;
    for (std::size_t i = 0; i < places.size(); ++i) {
      nodes.push_back(schedule_.order[places[i]]);
      const ScheduledCall call = call_at(nodes.back());
      if (i == 0) {
        fused.uses.push_back({call.use_at(rule.shared)->tensor, 0, Access::read});
        fused.attributes.assign(call.attributes.begin(), call.attributes.end());
      }
      fused.uses.push_back(
          {call.use_at(rule.own)->tensor, static_cast<std::uint8_t>(1 + i), Access::read});
      results.push_back({call.use_at(rule.op->operands.size())->tensor,
                         static_cast<std::uint8_t>(rule.fused->operands.size() + i),
                         Access::write});
    }
    fused.uses.insert(fused.uses.end(), results.begin(), results.end());
    fused.members = members_of(nodes);
    return fused;
  }

  void replace(Siblings& siblings) {
    if (siblings.places.size() == 1) {
      return;
    }
    const std::uint32_t first = schedule_.order[siblings.places.front()];
    for (const std::size_t place : siblings.places) {
      schedule_.fused.erase(schedule_.order[place]);
      schedule_.order[place] = kNoIndex;
    }
    schedule_.order[siblings.places.front()] = first;
    schedule_.fused[first] = std::move(siblings.call);
  }

  std::vector<bool> written_;  // by storage: whether a node writes it
};

}  // namespace

void group_nodes(const ComputeGraph& graph, const DeviceTraits& traits, const FusionRules& rules,
                 Schedule& schedule) {
  for (const SiblingRule& rule : rules.siblings) {
    Group(graph, traits, schedule).apply(rule);
  }
}

}  // namespace reprise
