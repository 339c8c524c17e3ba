#include "reprise/session/executable_graph.h"

#include <algorithm>
#include <deque>

#include "framework/session/executable_instance.h"

namespace reprise {

ExecutableGraph::ExecutableGraph(GraphExecutor& executor, const RecordFunction& pass,
                                 ExecutableOptions options)
    : ExecutableGraph(std::make_shared<ExecutableInstance>(
          std::make_shared<ExecutableProgram>(executor.core(), pass, std::move(options)))) {}

ExecutableGraph::ExecutableGraph(std::shared_ptr<ExecutableInstance> instance)
    : instance_(std::move(instance)) {}
ExecutableInstance& ExecutableGraph::instance() const {
  if (instance_ == nullptr) {
    throw_invalid_argument("The executable graph is empty: it was moved from.");
  }
  return *instance_;
}

ExecutableGraph::ExecutableGraph(ExecutableGraph&&) noexcept = default;
ExecutableGraph& ExecutableGraph::operator=(ExecutableGraph&&) noexcept = default;
ExecutableGraph::~ExecutableGraph() = default;

const std::vector<Port>& ExecutableGraph::inputs() const { return instance().program().inputs(); }
const std::vector<Port>& ExecutableGraph::outputs() const { return instance().program().outputs(); }
const ParamStore& ExecutableGraph::params() const { return instance().program().options().params; }
const StateBlock& ExecutableGraph::state() const { return instance().state(); }
std::size_t ExecutableGraph::recordings() const { return instance().program().recordings(); }
void ExecutableGraph::compile() { instance().compile(); }

void ExecutableGraph::set_param(std::string_view name, std::span<const float> values) const {
  params().set(name, values);
}

void ExecutableGraph::set_param(std::string_view name, std::span<const std::byte> bytes,
                                DType dtype) const {
  params().set(name, bytes, dtype);
}

RunResult ExecutableGraph::run(const std::vector<NamedInput>& inputs) {
  RunResult result(*instance().start(inputs, true, AfterSubmit::will_wait));
  result.ticket().wait();
  return result;
}

Ticket ExecutableGraph::submit(const std::vector<NamedInput>& inputs) {
  return *instance().start(inputs, true, AfterSubmit::will_continue);
}

std::optional<Ticket> ExecutableGraph::try_submit(const std::vector<NamedInput>& inputs) {
  return instance().start(inputs, false, AfterSubmit::will_continue);
}

void ExecutableGraph::wait_all() { instance().wait_all(); }

void ExecutableGraph::run_pipelined(
    std::span<const std::vector<NamedInput>> runs,
    const std::function<void(std::size_t, const RunResult&)>& done) {
  std::deque<RunResult> in_flight;
  std::size_t next = 0;
  const auto take = [&] {
    const RunResult oldest = std::move(in_flight.front());
    in_flight.pop_front();
    oldest.ticket().wait();
    done(next++, oldest);
  };
  for (const std::vector<NamedInput>& inputs : runs) {
    if (in_flight.size() == instance().program().options().slots) {
      take();
    }
    in_flight.emplace_back(submit(inputs));
  }
  while (!in_flight.empty()) {
    take();
  }
}

std::vector<OutputSet> ExecutableGraph::run_pipelined(
    std::span<const std::vector<NamedInput>> runs) {
  std::vector<OutputSet> all(runs.size());
  run_pipelined(runs, [&](std::size_t i, const RunResult& result) {
    for (const std::string& name : result.ticket().output_names()) {
      if (result.ran()) {
        const OutputView view = result.ticket().output(name);
        all[i].add(name, {view.spec, {view.bytes.begin(), view.bytes.end()}});
      }
    }
  });
  return all;
}

InputSlot ExecutableGraph::input_slot(std::string_view name) const {
  return {instance().program().input_index(name)};
}

PreparedRun ExecutableGraph::prepare() { return instance().prepare(); }

void ExecutableGraph::set_active_extent(std::int64_t rows) { instance().set_extent(rows); }
void ExecutableGraph::clear_active_extent() { instance().set_extent(std::nullopt); }
std::optional<std::int64_t> ExecutableGraph::active_extent() const { return instance().extent(); }

void ExecutableGraph::create_handle(const Handle& handle) { instance().create_handle(handle); }

bool ExecutableGraph::has_handle(std::string_view name) const {
  return std::ranges::any_of(handles(), [&](const Handle& handle) { return handle.name == name; });
}

std::vector<Handle> ExecutableGraph::handles() const {
  std::vector<Handle> list;
  for (const ExecutableInstance::HandleEntry& entry : instance().handles()) {
    list.push_back(entry.info);
  }
  return list;
}

void ExecutableGraph::bind(std::string_view handle, std::span<const float> values) {
  instance().bind(handle, std::as_bytes(values), DType::f32);
}

void ExecutableGraph::bind(std::string_view handle, std::span<const std::byte> bytes, DType dtype) {
  instance().bind(handle, bytes, dtype);
}

void ExecutableGraph::bind(std::string_view handle, const Tensor& tensor) {
  instance().bind(handle, tensor);
}

std::vector<std::byte> ExecutableGraph::read_bytes(std::string_view handle) const {
  return instance().program().core()->device().to_host(instance().handle(handle).tensor);
}

TensorSpec ExecutableGraph::handle_spec(std::string_view handle) const {
  return instance().handle(handle).tensor.spec();
}

void ExecutableGraph::feed(std::string_view handle, std::string_view output,
                           const FeedOptions& options) {
  instance().feed(handle, output, options);
}

void ExecutableGraph::set_resident_experts(std::string_view layer,
                                           const std::vector<bool>& resident) {
  instance().set_resident_experts(layer, resident);
}

void ExecutableGraph::set_resident_experts(const std::vector<bool>& resident) {
  instance().set_resident_experts(resident);
}

std::vector<bool> ExecutableGraph::resident_experts(std::string_view layer) const {
  return instance().resident_experts(layer);
}

void ExecutableGraph::capture_routes(std::uint32_t runs) { instance().capture_routes(runs); }
RouteCapture ExecutableGraph::take_routes() { return instance().take_routes(); }

std::vector<ExpertStats> ExecutableGraph::expert_stats() const {
  return instance().expert_stats(false);
}

std::vector<ExpertStats> ExecutableGraph::take_expert_stats() {
  return instance().expert_stats(true);
}

ExecutableGraph ExecutableGraph::fork() const { return ExecutableGraph(instance().fork()); }

}  // namespace reprise
