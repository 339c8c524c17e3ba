#include "reprise/session/captured_graph.h"

#include "framework/session/recording.h"

namespace reprise {
namespace {

void require(std::string_view name, const TensorSpec& spec, DType dtype, std::string_view element) {
  if (spec.dtype != dtype) {
    invalid("The output '" + std::string(name) + "' is " + to_string(spec) +
            ", which has no elements of type (" + std::string(element) + ").");
  }
}

}  // namespace

template <>
void require_elements<float>(std::string_view name, const TensorSpec& spec) {
  require(name, spec, DType::f32, "float");
}
template <>
void require_elements<std::int32_t>(std::string_view name, const TensorSpec& spec) {
  require(name, spec, DType::i32, "std::int32_t");
}
template <>
void require_elements<std::byte>(std::string_view /*name*/, const TensorSpec& /*spec*/) {}

const OutputSet::Output& OutputSet::find(std::string_view name) const {
  const auto it = outputs_.find(name);
  if (it != outputs_.end()) {
    return it->second;
  }
  std::string known;
  for (const auto& [declared, output] : outputs_) {
    known += (known.empty() ? "" : ", ") + declared;
  }
  invalid("The session has no output (" + std::string(name) +
          "); declare it with output() before finish(). Its outputs are: " +
          (known.empty() ? "none" : known) + ".");
}

CapturedGraph::CapturedGraph() = default;
CapturedGraph::CapturedGraph(std::unique_ptr<Recording> recording)
    : recording_(std::move(recording)) {}
CapturedGraph::CapturedGraph(CapturedGraph&&) noexcept = default;
CapturedGraph& CapturedGraph::operator=(CapturedGraph&&) noexcept = default;
CapturedGraph::~CapturedGraph() = default;

CapturedGraph::Recording& CapturedGraph::recording() const {
  if (recording_ == nullptr) {
    invalid("The graph is empty: only finish() of a recorded session makes one.");
  }
  return *recording_;
}

void CapturedGraph::set(std::string_view input, std::span<const float> values) {
  recording().set_input(input, DType::f32, std::as_bytes(values));
}

void CapturedGraph::set(std::string_view input, std::span<const std::int32_t> values) {
  recording().set_input(input, DType::i32, std::as_bytes(values));
}

void CapturedGraph::set(std::string_view input, DType dtype, std::span<const std::byte> bytes) {
  recording().set_input(input, dtype, bytes);
}

void CapturedGraph::set(std::string_view field, std::int32_t value) {
  recording().state().set(field, value);
}

void CapturedGraph::set(std::string_view field, float value) {
  recording().state().set(field, value);
}

void CapturedGraph::launch() { recording().launch(); }

std::int32_t CapturedGraph::state(std::string_view field) const {
  return recording().state().get(field);
}

std::uint64_t CapturedGraph::num_replays() const {
  return recording_ == nullptr ? 0 : recording_->num_replays();
}

const RecordedGraph& CapturedGraph::recorded() const { return recording().recorded(); }

CapturedGraph::Times CapturedGraph::last_times() const {
  const SubmissionTimes& times = recording().last_times();
  return {times.prepare_ns, times.submit_ns, times.wait_ns, times.device_ns};
}

std::pair<TensorSpec, std::span<const std::byte>> CapturedGraph::output_bytes(
    std::string_view output) const {
  return recording().output(output);
}

}  // namespace reprise
