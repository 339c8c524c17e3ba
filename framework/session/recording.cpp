#include "framework/session/recording.h"

#include <algorithm>
#include <chrono>

#include "framework/session/labels.h"

namespace reprise {
namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

const Exchange& find(const std::vector<Exchange>& ports, std::string_view kind,
                     std::string_view name) {
  const auto it = std::ranges::find(ports, name, &Exchange::name);
  if (it != ports.end()) {
    return *it;
  }
  std::string known;
  for (const Exchange& port : ports) {
    known += (known.empty() ? "" : ", ") + port.name;
  }
  invalid("The graph has no " + std::string(kind) + " (" + std::string(name) + "); its " +
          std::string(kind) + "s are: " + (known.empty() ? "none" : known) + ".");
}

}  // namespace

CapturedGraph::Recording::Recording(std::shared_ptr<ExecutorCore> core,
                                    std::shared_ptr<const RecordedGraph> recorded, StateBlock state,
                                    const std::vector<Port>& inputs,
                                    const std::vector<Port>& outputs, FinishReport& report)
    : core_(std::move(core)), recorded_(std::move(recorded)), state_(std::move(state)) {
  const ExecutionPlan& plan = recorded_->plan;
  const Device& device = core_->device();
  for (const Pool& pool : plan.pools) {
    pools_.push_back(pool.buffer);
  }
  if (plan.arena_bytes > 0) {
    pools_[ExecutionPlan::kArena] = device.backend().allocate(
        "arena of '" + recorded_->graph.name + "'", plan.arena_bytes, BufferKind::device);
  }
  const std::int64_t begin = now_ns();
  encode_body(report);
  const auto exchanges = [&](const std::vector<Port>& ports) {
    std::vector<Exchange> list;
    list.reserve(ports.size());
    for (const Port& port : ports) {
      list.push_back(exchange(port));
    }
    return list;
  };
  slot_ = std::make_unique<Slot>(device, state_, exchanges(inputs), exchanges(outputs), staging_);
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

CapturedGraph::Recording::~Recording() {
  if (profile_id_ != 0 && pools_[ExecutionPlan::kArena] != nullptr) {
    core_->profile_buffer_freed(*pools_[ExecutionPlan::kArena]);
  }
}

void CapturedGraph::Recording::encode_body(FinishReport& report) {
  const ExecutionPlan& plan = recorded_->plan;
  const ComputeGraph& graph = recorded_->graph;
  const auto encoder = core_->device().backend().encoder({.name = graph.name, .reusable = true});
  Labels labels(*encoder);
  auto barrier = plan.barriers.begin();
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s) {
    labels.enter(graph.names, graph.nodes[plan.steps[s].node].scope);
    if (barrier != plan.barriers.end() && barrier->before_step == s) {
      encoder->barrier();
      ++barrier;
    }
    encoder->step(plan.steps, s, pools_);
  }
  labels.close();
  body_ = encoder->finish();
  report.steps = static_cast<std::uint32_t>(plan.steps.size());
  report.barriers = static_cast<std::uint32_t>(plan.barriers.size());
  report.arena_bytes = plan.arena_bytes;
  report.live_peak_bytes = plan.live_peak_bytes;
}

Exchange CapturedGraph::Recording::exchange(const Port& port) const {
  const GraphTensor& t = recorded_->graph.tensors[port.tensor];
  const Place& place = recorded_->plan.places[t.storage];
  return {port.name, t.spec, pools_[place.pool], place.offset + t.offset, 0};
}

void CapturedGraph::Recording::set_input(std::string_view name, DType dtype,
                                         std::span<const std::byte> bytes) {
  const Exchange& input = find(slot_->inputs(), "input", name);
  if (input.spec.dtype != dtype || input.spec.bytes() != bytes.size()) {
    invalid("The input '" + input.name + "' is " + to_string(input.spec) + " (" +
            std::to_string(input.spec.bytes()) + " bytes), but was set to (" +
            std::to_string(bytes.size()) + ") bytes of " + std::string(name_of(dtype)) + ".");
  }
  if (!bytes.empty()) {
    std::memcpy(slot_->input_bytes(input), bytes.data(), bytes.size());
  }
}

SubmissionTimes CapturedGraph::Recording::launch() {
  times_ = slot_->run(*body_);
  ++replays_;
  if (profile_id_ != 0) {
    profile_replay();
  }
  return times_;
}

std::pair<TensorSpec, std::span<const std::byte>> CapturedGraph::Recording::output(
    std::string_view name) const {
  const Exchange& port = find(slot_->outputs(), "output", name);
  return {port.spec, {slot_->output_bytes(port), port.spec.bytes()}};
}

void CapturedGraph::Recording::profile(std::uint64_t session, const FinishReport& report) {
  ProfileSink* sink = core_->profile();
  if (sink == nullptr) {
    return;
  }
  RecordingRecord record;
  record.id = profile_id_ = sink->next_id();
  record.session = session;
  record.recorded = recorded_;
  const StepList& steps = recorded_->plan.steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Kernel& kernel = steps[s].kernel;
    const bool known =
        std::ranges::any_of(record.kernels, [&](const auto& k) { return k.first == kernel; });
    if (!known) {
      if (const auto info = core_->device().backend().kernel_info(kernel)) {
        record.kernels.emplace_back(kernel, *info);
      }
    }
  }
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    record.pool_buffers.push_back(
        pools_[p] == nullptr ? 0 : core_->profile_buffer(pools_[p], recorded_->plan.pools[p].kind));
  }
  record.record_ns = report.record_ns;
  record.plan_ns = report.plan_ns;
  record.encode_ns = report.encode_ns;
  record.time_ns = times_.submit_time_ns;
  sink->recording(std::move(record));
  profile_replay();
}

void CapturedGraph::Recording::profile_replay() {
  ReplayRecord record;
  record.recording = profile_id_;
  record.sequence = replays_ - 1;
  record.submission = times_.submission;
  record.submit_time_ns = times_.submit_time_ns;
  record.prepare_ns = times_.prepare_ns;
  record.submit_ns = times_.submit_ns;
  record.wait_ns = times_.wait_ns;
  record.device_ns = times_.device_ns;
  record.warm_up = replays_ == 1;
  record.state = slot_->state_words();
  core_->profile()->replay(std::move(record));
}

}  // namespace reprise
