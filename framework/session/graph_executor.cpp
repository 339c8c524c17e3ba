#include "reprise/session/graph_executor.h"

#include "framework/ops/fusions.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/experts/expert_residency.h"
#include "framework/session/record/direct_session.h"
#include "framework/session/record/expert_tensors.h"
#include "framework/session/record/plan_pass.h"
#include "framework/session/record/recorded_session.h"
#include "framework/session/replay/memory.h"
#include "framework/session/replay/warm_up.h"
#include "framework/session/saved/graph_loader.h"

namespace reprise {

GraphExecutor::GraphExecutor(Device device, const ExecutorOptions& options)
    : core_(std::make_shared<ExecutorCore>(std::move(device), options)),
      graphs_(core_, options.graphs) {}

const Device& GraphExecutor::device() const { return core_->device(); }

const DeviceTraits& GraphExecutor::traits() const { return core_->traits(); }

void GraphExecutor::synchronize() const { device().synchronize(); }

void GraphExecutor::shutdown() const { core_->shutdown(); }

void GraphExecutor::trim() const { core_->trim(); }

void GraphExecutor::defragment() const { core_->defragment(); }

void GraphExecutor::set_timing(TimingMode mode) const { core_->set_timing_mode(mode); }

void GraphExecutor::set_watches(std::vector<TensorWatch> watches) const {
  core_->set_watches(std::move(watches));
}

void GraphExecutor::count(std::string_view name, double value, std::string_view unit) const {
  if (SessionProfile* profile = core_->profile()) {
    profile->sink().send(CounterRecord{std::string(name), std::string(unit), value, now_ns()});
  }
}

HostScope GraphExecutor::host_scope(std::string name) const { return {core_, std::move(name)}; }

std::optional<ProfileHealth> GraphExecutor::profile_health() const {
  SessionProfile* profile = core_->profile();
  return profile == nullptr ? std::nullopt : std::optional(profile->sink().health());
}

GraphSession GraphExecutor::begin(SessionOptions options) {
  std::shared_ptr<HostContext> experts = own_experts(device(), options);
  return GraphSession(std::make_unique<DirectSession>(
      core_, std::move(options), Session::Purpose{.experts = std::move(experts)}));
}

GraphSession GraphExecutor::begin_recorded(SessionOptions options) {
  std::shared_ptr<HostContext> experts = own_experts(device(), options);
  return GraphSession(std::make_unique<RecordedSession>(
      core_, std::move(options), Session::Purpose{.experts = std::move(experts)}));
}

FinishResult GraphExecutor::capture(const RecordFunction& pass, SessionOptions session,
                                    const FinishOptions& finish) {
  GraphSession recorded = begin_recorded(std::move(session));
  pass(recorded);
  return recorded.finish(finish);
}

WarmUp GraphExecutor::prewarm(const RecordFunction& pass, SessionOptions session,
                              const FinishOptions& finish) {
  const StateBlock state = session.state;
  const std::vector<NamedTensor> experts =
      expert_tensors(session.experts, [&](const std::string& name, const TensorSpec& spec) {
        return device().empty(spec.shape, spec.dtype, name);
      });
  const PassPlan plan = plan_pass(core_, pass, std::move(session),
                                  {finish.reuse, finish.passes, fusion_rules()}, "prewarmed");
  const Memory memory(*core_, plan, {.state = state, .own = experts});
  return warm_up(core_->device().backend(), plan.execution->steps, memory.buffers());
}

GraphSession GraphExecutor::begin_graph_capture(SessionOptions options) {
  return begin_recorded(std::move(options));
}

KeyedRun GraphExecutor::end_graph_capture(const GraphKey& key, GraphSession& session,
                                          const FinishOptions& options) {
  return graphs_.keep(key, session, options);
}

KeyedRun GraphExecutor::replay_graph(const GraphKey& key, const std::vector<NamedInput>& inputs,
                                     const LaunchOptions& launch) {
  return graphs_.replay(key, inputs, launch);
}

std::size_t GraphExecutor::reset_graph(const GraphKey& key) { return graphs_.reset(key); }

std::size_t GraphExecutor::reset_all_graphs() { return graphs_.reset_all(); }

GraphLookup GraphExecutor::find_graph(const GraphKey& key) const { return graphs_.find(key); }

GraphCacheCounters GraphExecutor::graph_counters() const { return graphs_.counters(); }

LoadedGraph GraphExecutor::load_graph(const std::filesystem::path& path) {
  return load_graph(path, {});
}

LoadedGraph GraphExecutor::load_graph(const std::filesystem::path& path,
                                      const LoadOptions& options) {
  return load_saved_graph(core_, path, options);
}

}  // namespace reprise
