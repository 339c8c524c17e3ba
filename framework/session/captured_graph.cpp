#include "reprise/session/captured_graph.h"

#include "framework/session/recording.h"

namespace reprise {

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
CapturedGraph::CapturedGraph(std::shared_ptr<Recording> recording)
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

const SubmissionTimes& CapturedGraph::last_times() const { return recording().last_times(); }

OutputView CapturedGraph::output(std::string_view name) const { return recording().output(name); }

Ticket CapturedGraph::launch_async() { return recording().launch_async(true).value(); }

std::optional<Ticket> CapturedGraph::try_launch_async() { return recording().launch_async(false); }

std::size_t CapturedGraph::slots() const { return recording().slots(); }

std::uint64_t CapturedGraph::upload() { return recording().upload(); }

bool CapturedGraph::is_uploaded() const { return recording().is_uploaded(); }

void CapturedGraph::set_timing(std::optional<TimingMode> mode) { recording().set_timing(mode); }

}  // namespace reprise
