#include "reprise/session/captured_graph.h"

#include "framework/core/known_names.h"
#include "framework/graph/structure_hash.h"
#include "framework/session/saved/graph_loader.h"
#include "reprise/session/results.h"

namespace reprise {

OutputSet OutputSet::of(const Ticket& ticket) {
  OutputSet set;
  if (ticket.iterations() > 0) {
    for (const std::string& name : ticket.output_names()) {
      const auto [spec, bytes] = ticket.output(name);
      set.add(name, {spec, {bytes.begin(), bytes.end()}});
    }
  }
  return set;
}

const OutputSet::Output& OutputSet::find(std::string_view name) const {
  const auto it = outputs_.find(name);
  if (it != outputs_.end()) {
    return it->second;
  }
  if (outputs_.empty()) {
    throw_invalid_argument("The run left no output (", name,
                           "): nothing ran, or none was declared.");
  }
  throw_unknown_name("The run", "output", name,
                     names_of(outputs_, [](const auto& output) { return output.first; }));
}

CapturedGraph::CapturedGraph(std::shared_ptr<Recording> recording, Ticket last)
    : recording_(std::move(recording)), last_(std::move(last)) {}

Recording& CapturedGraph::inner() const {
  if (recording_ == nullptr) {
    throw_invalid_argument("The graph is empty: only finish() of a recorded session makes one.");
  }
  return *recording_;
}

void CapturedGraph::set_input(std::string_view input, std::span<const float> values) {
  inner().inputs().set(input, DType::f32, std::as_bytes(values));
}

void CapturedGraph::set_input(std::string_view input, std::span<const std::int32_t> values) {
  inner().inputs().set(input, DType::i32, std::as_bytes(values));
}

void CapturedGraph::set_input(std::string_view input, DType dtype,
                              std::span<const std::byte> bytes) {
  inner().inputs().set(input, dtype, bytes);
}

const StateBlock& CapturedGraph::state_block() const { return inner().state(); }

void CapturedGraph::set_state(std::initializer_list<StateValue> values) {
  state_block().set(values);
}

void CapturedGraph::launch(const LaunchOptions& options) {
  Ticket ticket = inner().launch(options, true, AfterSubmit::will_wait, last_).value();
  ticket.wait();
  last_ = std::move(ticket);
}

const Ticket& CapturedGraph::last_launch() const {
  if (!last_) {
    throw_invalid_argument(
        "The graph '", graph().name,
        "' holds no outputs: there was no launch(), or a later launch took them. Tickets hold "
        "those of launch_async().");
  }
  return last_;
}

std::uint32_t CapturedGraph::iterations() const { return last_launch().iterations(); }

std::uint64_t CapturedGraph::num_replays() const {
  return recording_ == nullptr ? 0 : recording_->num_replays();
}

const ComputeGraph& CapturedGraph::graph() const { return inner().graph(); }

const ExecutionPlan& CapturedGraph::plan() const { return inner().plan(); }

const SubmissionTimes& CapturedGraph::last_times() const { return last_launch().times(); }

OutputView CapturedGraph::output(std::string_view name) const { return last_launch().output(name); }

OutputView CapturedGraph::output(std::string_view name, std::uint32_t iteration) const {
  return last_launch().output(name, iteration);
}

std::vector<std::string> CapturedGraph::output_names() const {
  std::vector<std::string> names;
  for (const Port& port : inner().outputs()) {
    names.push_back(port.name);
  }
  return names;
}

Ticket CapturedGraph::launch_async(const LaunchOptions& options) {
  return inner().launch(options, true, AfterSubmit::will_continue, last_).value();
}

std::optional<Ticket> CapturedGraph::try_launch_async(const LaunchOptions& options) {
  if (options.slot_timeout.count() != 0) {
    throw_invalid_argument("try_launch_async() never waits, but was given a slot_timeout of (",
                           options.slot_timeout.count(), ") ns.");
  }
  return inner().launch(options, false, AfterSubmit::will_continue, last_);
}

void CapturedGraph::save(const std::filesystem::path& path) const { save_recording(inner(), path); }

std::string CapturedGraph::structure_hash() const { return reprise::structure_hash(graph()); }

std::string CapturedGraph::content_hash() const {
  const RecordingRecord record = record_of(inner().shared_plan(), inner().device().backend());
  return reprise::content_hash(record, inner().core().device().info());
}

std::optional<std::string> CapturedGraph::stale() const { return inner().stale(); }

void CapturedGraph::rebind(const Tensor& from, const Tensor& to) { inner().rebind(from, to); }

bool CapturedGraph::has_pool() const { return static_cast<bool>(inner().memory().pool()); }

const CapturePool& CapturedGraph::pool() const {
  if (!has_pool()) {
    throw_invalid_argument("The graph '", graph().name,
                           "' has no pool: its session was finished without one.");
  }
  return inner().memory().pool();
}

std::size_t CapturedGraph::slots() const { return inner().slots().count(); }

PartialRun CapturedGraph::run_prefix(std::uint32_t node) {
  last_.release();
  return inner().run_part(node, false);
}

PartialRun CapturedGraph::run_node(std::uint32_t node) {
  last_.release();
  return inner().run_part(node, true);
}

bool CapturedGraph::wait_for_slot(std::chrono::nanoseconds timeout) {
  return last_ || inner().slots().wait(timeout);
}

bool CapturedGraph::in_use() const { return inner().slots().in_use(); }

std::uint64_t CapturedGraph::bytes() const { return inner().bytes(); }

bool CapturedGraph::replays() const { return inner().replays(); }

std::uint64_t CapturedGraph::upload() { return inner().upload(); }

bool CapturedGraph::is_uploaded() const { return inner().is_uploaded(); }

void CapturedGraph::set_timing(std::optional<TimingMode> mode) { inner().set_timing(mode); }

}  // namespace reprise
