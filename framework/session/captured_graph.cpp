#include "reprise/session/captured_graph.h"

#include "framework/session/graph_loader.h"
#include "reprise/core/known_names.h"
#include "reprise/graph/structure_hash.h"

namespace reprise {

const OutputSet::Output& OutputSet::find(std::string_view name) const {
  const auto it = outputs_.find(name);
  if (it != outputs_.end()) {
    return it->second;
  }
  if (outputs_.empty()) {
    throw_invalid_argument("The run left no output (" + std::string(name) +
                           "): nothing ran, or none was declared.");
  }
  throw_unknown_name("The run", "output", name,
                     names_of(outputs_, [](const auto& output) { return output.first; }));
}

CapturedGraph::CapturedGraph() = default;
CapturedGraph::CapturedGraph(std::shared_ptr<Recording> recording)
    : recording_(std::move(recording)) {}
CapturedGraph::CapturedGraph(CapturedGraph&&) noexcept = default;
CapturedGraph& CapturedGraph::operator=(CapturedGraph&&) noexcept = default;
CapturedGraph::~CapturedGraph() = default;

CapturedGraph::Recording& CapturedGraph::recording() const {
  if (recording_ == nullptr) {
    throw_invalid_argument("The graph is empty: only finish() of a recorded session makes one.");
  }
  return *recording_;
}

void CapturedGraph::set_input(std::string_view input, std::span<const float> values) {
  recording().set_input(input, DType::f32, std::as_bytes(values));
}

void CapturedGraph::set_input(std::string_view input, std::span<const std::int32_t> values) {
  recording().set_input(input, DType::i32, std::as_bytes(values));
}

void CapturedGraph::set_input(std::string_view input, DType dtype,
                              std::span<const std::byte> bytes) {
  recording().set_input(input, dtype, bytes);
}

const StateBlock& CapturedGraph::state_block() const { return recording().state(); }

void CapturedGraph::set_state(std::initializer_list<StateValue> values) {
  state_block().set(values);
}

void CapturedGraph::launch(const LaunchOptions& options) { recording().launch(options); }

std::uint32_t CapturedGraph::iterations() const { return recording().last_launch().ran(); }

std::uint32_t CapturedGraph::state_bits(std::string_view field, DType dtype,
                                        std::uint32_t iteration) const {
  return recording().last_launch().state(field, dtype, iteration);
}

std::uint64_t CapturedGraph::num_replays() const {
  return recording_ == nullptr ? 0 : recording_->num_replays();
}

const ComputeGraph& CapturedGraph::graph() const { return recording().graph(); }

const ExecutionPlan& CapturedGraph::plan() const { return recording().plan(); }

const SubmissionTimes& CapturedGraph::last_times() const { return recording().last_times(); }

OutputView CapturedGraph::output(std::string_view name) const {
  return recording().last_launch().output(name);
}

OutputView CapturedGraph::output(std::string_view name, std::uint32_t iteration) const {
  return recording().last_launch().output(name, iteration);
}

std::vector<std::string> CapturedGraph::output_names() const {
  std::vector<std::string> names;
  for (const Port& port : recording().outputs()) {
    names.push_back(port.name);
  }
  return names;
}

Ticket CapturedGraph::launch_async(const LaunchOptions& options) {
  return recording().launch_async(options, true).value();
}

std::optional<Ticket> CapturedGraph::try_launch_async(const LaunchOptions& options) {
  if (options.slot_timeout.count() != 0) {
    throw_invalid_argument("try_launch_async() never waits, but was given a slot_timeout of (" +
                           std::to_string(options.slot_timeout.count()) + ") ns.");
  }
  return recording().launch_async(options, false);
}

void CapturedGraph::save(const std::filesystem::path& path) const {
  save_recording(recording(), path);
}

std::string CapturedGraph::structure_hash() const { return reprise::structure_hash(graph()); }

std::string CapturedGraph::content_hash() const {
  RecordingRecord record;
  record.plan = recording().shared_plan();
  record.kernels = recording().kernels();
  return reprise::content_hash(record, recording().core().device().info());
}

std::optional<std::string> CapturedGraph::stale() const { return recording().stale(); }

void CapturedGraph::rebind(const Tensor& from, const Tensor& to) { recording().rebind(from, to); }

bool CapturedGraph::has_pool() const { return static_cast<bool>(recording().memory().pool()); }

const CapturePool& CapturedGraph::pool() const {
  if (!has_pool()) {
    throw_invalid_argument("The graph '" + graph().name +
                           "' has no pool: its session was finished without one.");
  }
  return recording().memory().pool();
}

std::size_t CapturedGraph::slots() const { return recording().slots(); }

PartialRun CapturedGraph::run_prefix(std::uint32_t node) {
  return recording().run_part(node, false);
}

PartialRun CapturedGraph::run_node(std::uint32_t node) { return recording().run_part(node, true); }
std::size_t CapturedGraph::held_slots() const { return recording().held_slots(); }

bool CapturedGraph::wait_for_slot(std::chrono::nanoseconds timeout) {
  return recording().wait_for_slot(timeout);
}

bool CapturedGraph::in_use() const { return recording().in_use(); }

std::uint64_t CapturedGraph::bytes() const { return recording().bytes(); }

bool CapturedGraph::replays() const { return recording().replays(); }

std::uint64_t CapturedGraph::upload() { return recording().upload(); }

bool CapturedGraph::is_uploaded() const { return recording().is_uploaded(); }

void CapturedGraph::set_timing(std::optional<TimingMode> mode) { recording().set_timing(mode); }

}  // namespace reprise
