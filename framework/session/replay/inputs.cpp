#include "framework/session/replay/inputs.h"

#include <algorithm>
#include <utility>

namespace reprise {

Inputs::Inputs(const ComputeGraph& graph, std::size_t slots)
    : ports_(graph.inputs),
      graph_("The graph '" + graph.name + "'"),
      values_(ports_.size()),
      held_(slots, std::vector<std::uint64_t>(values_.size())),
      limits_(limits_of(graph.extents)),
      buckets_(limits_.size()) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i].given = ports_[i].spec.bytes() == 0;
    missing_ += values_[i].given ? 0U : 1U;
  }
}

void Inputs::set(std::string_view name, DType dtype, std::span<const std::byte> bytes) {
  const std::uint32_t index = index_of(ports_, graph_, "input", name);
  const TensorSpec& spec = ports_[index].spec;
  require_values(name, spec, dtype, bytes);
  Value& value = values_[index];
  value.bytes.assign(bytes.begin(), bytes.end());
  ++value.version;
  missing_ -= std::exchange(value.given, true) ? 0U : 1U;
  if (!spec.shape.fixed()) {
    const auto set = std::ranges::find(limits_, name, &ExtentLimit::input);
    if (set == limits_.end()) {
      limits_.push_back(limit_of(std::string(name), spec, bytes));
    } else {
      set->max = rows_given(spec, bytes);
    }
  }
}

void Inputs::require_given() const {
  if (missing_ == 0) {
    return;
  }
  const auto first = std::ranges::find(values_, false, &Value::given) - values_.begin();
  const Port& port = ports_[static_cast<std::size_t>(first)];
  throw_error(ErrorCode::missing_input, graph_, " is launched without a value for its input '",
              port.name, "' ", to_string(port.spec), ".");
}

void Inputs::fill(const Slot& slot) {
  std::vector<std::uint64_t>& held = held_[slot.index()];
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (held[i] != values_[i].version) {
      held[i] = values_[i].version;
      std::ranges::copy(values_[i].bytes, slot.exchange().input_bytes(i));
    }
  }
}

void Inputs::fill_once(const Slot& slot) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    std::ranges::copy(values_[i].bytes, slot.exchange().input_bytes(i));
  }
}

}  // namespace reprise
