#include "reprise/session/executable_graph.h"

#include <algorithm>
#include <deque>

#include "framework/session/executable/executable.h"

namespace reprise {

ExecutableGraph::ExecutableGraph(GraphExecutor& executor, const RecordFunction& pass,
                                 ExecutableOptions options)
    : ExecutableGraph(std::make_shared<Executable>(
          std::make_shared<ExecutablePlans>(executor.core(), pass, std::move(options)))) {}

ExecutableGraph::ExecutableGraph(std::shared_ptr<Executable> executable)
    : executable_(std::move(executable)) {}

Executable& ExecutableGraph::inner() const {
  if (executable_ == nullptr) {
    throw_invalid_argument("The executable graph is empty: it was moved from.");
  }
  return *executable_;
}

const std::vector<Port>& ExecutableGraph::inputs() const { return inner().plans().inputs(); }
const std::vector<Port>& ExecutableGraph::outputs() const { return inner().plans().outputs(); }
const ParamStore& ExecutableGraph::params() const { return inner().plans().options().params; }
const StateBlock& ExecutableGraph::state() const { return inner().state(); }
std::size_t ExecutableGraph::recordings() const { return inner().plans().recordings(); }
void ExecutableGraph::compile() { inner().compile(); }

CapturedGraph ExecutableGraph::captured(std::int64_t rows) {
  return CapturedGraph(inner().recording(rows));
}

CapturedGraph ExecutableGraph::captured() { return captured(inner().plans().buckets().back()); }

void ExecutableGraph::set_timing(std::optional<TimingMode> mode) { inner().set_timing(mode); }

void ExecutableGraph::set_param(std::string_view name, std::span<const float> values) const {
  params().set(name, values);
}

void ExecutableGraph::set_param(std::string_view name, std::span<const std::byte> bytes,
                                DType dtype) const {
  params().set(name, bytes, dtype);
}

Ticket ExecutableGraph::run(const std::vector<NamedInput>& inputs) {
  Ticket ticket = *inner().run(inputs, true, AfterSubmit::will_wait);
  ticket.wait();
  return ticket;
}

Ticket ExecutableGraph::submit(const std::vector<NamedInput>& inputs) {
  return *inner().run(inputs, true, AfterSubmit::will_continue);
}

std::optional<Ticket> ExecutableGraph::try_submit(const std::vector<NamedInput>& inputs) {
  return inner().run(inputs, false, AfterSubmit::will_continue);
}

void ExecutableGraph::wait_all() { inner().wait_all(); }

void ExecutableGraph::run_pipelined(std::span<const std::vector<NamedInput>> runs,
                                    const std::function<void(std::size_t, const Ticket&)>& done) {
  std::deque<Ticket> in_flight;
  std::size_t next = 0;
  const auto take = [&] {
    const Ticket oldest = std::move(in_flight.front());
    in_flight.pop_front();
    oldest.wait();
    done(next++, oldest);
  };
  for (const std::vector<NamedInput>& inputs : runs) {
    if (in_flight.size() == inner().plans().options().slots) {
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
  run_pipelined(runs, [&](std::size_t i, const Ticket& run) { all[i] = OutputSet::of(run); });
  return all;
}

InputSlot ExecutableGraph::input_slot(std::string_view name) const {
  return {inner().plans().input_index(name)};
}

PreparedRun ExecutableGraph::prepare() { return inner().prepare(); }

void ExecutableGraph::set_active_extent(std::int64_t rows) { inner().set_extent(rows); }
void ExecutableGraph::clear_active_extent() { inner().set_extent(std::nullopt); }
std::optional<std::int64_t> ExecutableGraph::active_extent() const { return inner().extent(); }

void ExecutableGraph::set_iterations(std::uint32_t iterations) {
  inner().set_iterations(iterations);
}

void ExecutableGraph::create_handle(const Handle& handle) {
  inner().change([&](Handles& handles) { handles.create(handle); });
}

bool ExecutableGraph::has_handle(std::string_view name) const {
  return inner().handles().find(name) != kNoIndex;
}

std::vector<Handle> ExecutableGraph::handles() const {
  std::vector<Handle> list;
  for (const Handles::Entry& entry : inner().handles().all()) {
    list.push_back(entry.info);
  }
  return list;
}

void ExecutableGraph::bind(std::string_view handle, std::span<const float> values) {
  bind(handle, std::as_bytes(values), DType::f32);
}

void ExecutableGraph::bind(std::string_view handle, std::span<const std::byte> bytes, DType dtype) {
  inner().bind(handle, bytes, dtype);
}

void ExecutableGraph::bind(std::string_view handle, const Tensor& tensor) {
  inner().change([&](Handles& handles) { handles.bind(handle, tensor); });
}

std::vector<std::byte> ExecutableGraph::read_bytes(std::string_view handle) const {
  return inner().plans().core()->device().to_host(inner().handles().require(handle).live());
}

TensorSpec ExecutableGraph::handle_spec(std::string_view handle) const {
  return inner().handles().require(handle).live().spec();
}

void ExecutableGraph::feed(std::string_view handle, std::string_view output,
                           const FeedOptions& options) {
  inner().change([&](Handles& handles) { handles.feed(handle, output, options); });
}

void ExecutableGraph::set_resident_experts(std::string_view layer,
                                           const std::vector<bool>& resident) {
  inner().require_free();
  inner().experts().residency().set_resident(layer, resident);
}

void ExecutableGraph::set_resident_experts(const std::vector<bool>& resident) {
  inner().require_free();
  inner().experts().residency().set_resident(resident);
}

std::vector<bool> ExecutableGraph::resident_experts(std::string_view layer) const {
  return inner().experts().residency().resident(layer);
}

void ExecutableGraph::capture_routes(std::uint32_t runs) {
  const ExecutablePlans& plans = inner().plans();
  if (!plans.may_keep_routes()) {
    throw_invalid_argument(plans.what(), " keeps no routes; see ExecutableOptions::routes.");
  }
  if (plans.routers().empty()) {
    throw_invalid_argument(plans.what(), " has no call of route_top_k.");
  }
  if (plans.options().max_iterations > 1) {
    throw_error(ErrorCode::unsupported, plans.what(), " has (", plans.options().max_iterations,
                ") iterations, but routes are captured of passes that run once.");
  }
  const std::int64_t most = inner().routes().most_runs();
  if (runs > most) {
    throw_invalid_argument(plans.what(), " is to keep routes of (", runs,
                           ") runs, but there is room for those of ", most, ".");
  }
  inner().change([&](Handles& /*handles*/) { inner().routes().capture(runs); });
}

RouteCapture ExecutableGraph::take_routes() {
  return inner().routes().take(inner().plans().what());
}

std::vector<ExpertStats> ExecutableGraph::expert_stats() const {
  return inner().experts().stats(false);
}

std::vector<ExpertStats> ExecutableGraph::take_expert_stats() {
  return inner().experts().stats(true);
}

ExecutableGraph ExecutableGraph::fork() const { return ExecutableGraph(inner().fork()); }

}  // namespace reprise
