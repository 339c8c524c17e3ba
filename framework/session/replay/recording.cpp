#include "framework/session/replay/recording.h"

#include <algorithm>
#include <set>

#include "framework/graph/make_plan.h"
#include "framework/graph/structure_hash.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/replay/warm_up.h"

namespace reprise {
namespace {

/// The outputs that are chosen, or what belongs to each; all without a choice.
template <class T>
std::vector<T> chosen(const std::vector<T>& all,
                      const std::optional<std::vector<std::uint32_t>>& which) {
  if (!which || all.empty()) {
    return all;
  }
  std::vector<T> list;
  for (const std::uint32_t output : *which) {
    list.push_back(all[output]);
  }
  return list;
}

}  // namespace

std::shared_ptr<Recording> Recording::make(const std::shared_ptr<ExecutorCore>& core,
                                           const PassPlan& plan, const Memory::Sources& sources,
                                           const Options& options, FinishReport& report) {
  if (options.slots < 1 || options.slots > kMaxSlots) {
    throw_invalid_argument("A recording has 1 to ", kMaxSlots, " slots, but (", options.slots,
                           ") are asked for.");
  }
  Memory memory(*core, plan, sources);
  const std::int64_t begin = now_ns();
  auto recording = std::make_shared<Recording>(core, plan, std::move(memory), options);
  const ExecutionPlan& execution = *plan.execution;
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
  report.steps = static_cast<std::uint32_t>(execution.steps.size());
  report.barriers =
      core->serialize() ? report.steps : static_cast<std::uint32_t>(execution.barriers.size());
  report.fused_nodes = fused_nodes(execution);
  report.moved_results = moved_results(execution);
  report.arena_bytes = execution.arena_bytes;
  report.live_peak_bytes = execution.live_peak_bytes;
  report.replays = recording->replays();
  recording->require_not_stale();  // also where nothing encodes with the buffer yet
  return recording;
}

Recording::Recording(std::shared_ptr<ExecutorCore> core, const PassPlan& plan, Memory memory,
                     const Options& options)
    : core_(std::move(core)),
      plan_(plan.execution),
      memory_(std::move(memory)),
      outputs_(chosen(graph().outputs, options.outputs)),
      growths_(growths_of(graph())),
      reporter_(*core_, plan_, options.slots),
      host_steps_(core_->device(), plan, options.context, options.joined_host_steps),
      bodies_(*core_, *plan_, memory_, host_steps_, reporter_),
      launcher_(*core_, plan, memory_, host_steps_, options.context),
      inputs_(graph(), options.slots) {
  const auto exchanges = [&](const std::vector<Port>& ports) {
    std::vector<Exchange> list;
    list.reserve(ports.size());
    for (const Port& port : ports) {
      const GraphTensor& t = graph().tensors[port.tensor];
      list.push_back({port.name, t.spec, memory_.buffer_of(t.storage),
                      plan_->places[t.storage].offset + t.offset, 0});
    }
    return list;
  };
  IterationRows rows = memory_.rows();
  rows.output_words = chosen(rows.output_words, options.outputs);
  for (std::uint32_t i = 0; i < options.slots; ++i) {
    Staging staging;
    slots_.add(std::make_unique<Slot>(device(), state(), exchanges(graph().inputs),
                                      exchanges(outputs_), rows, staging, *this, i));
  }
}

Recording::~Recording() {
  if (reporter_.id() == 0) {
    return;  // what is in flight keeps what it uses
  }
  slots_.reclaim();  // their replays are not in the database yet
  try {
    if (const Buffer* arena = memory_.own_arena()) {
      core_->profile()->buffer_freed(*arena);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record
  }
}

void Recording::begin_run() {
  if (host_steps_.running()) {
    throw_invalid_argument("The graph '", graph().name,
                           "' is launched by one of its own host steps.");
  }
  require_not_stale();
  ++runs_;
}

void Recording::require_iterations(std::uint32_t iterations) const {
  const std::uint32_t most = memory_.rows().capacity;
  if (iterations < 1 || iterations > most) {
    throw_invalid_argument("The graph '", graph().name, "' is launched with (", iterations,
                           ") iterations, but 1 to ", most,
                           " are possible; begin its session with more max_iterations.");
  }
}

std::optional<Ticket> Recording::launch(const LaunchOptions& options, bool may_wait,
                                        AfterSubmit then, Ticket& replaced) {
  require_iterations(options.iterations);
  core_->require_running();
  inputs_.require_given();
  begin_run();
  replaced.release();
  if (may_wait) {
    slots_.wait(options.slot_timeout);
  }
  Slot* slot = slots_.acquire(may_wait);
  if (slot == nullptr) {
    return std::nullopt;
  }
  const std::int64_t begin = now_ns();
  inputs_.fill(*slot);
  return submit(*slot, options, then, begin);
}

Ticket Recording::launch(const LaunchOptions& options) {
  Ticket none;
  return launch(options, true, AfterSubmit::will_continue, none).value();
}

Slot* Recording::reserve(bool may_wait) {
  core_->require_running();
  begin_run();
  Slot* slot = slots_.acquire(may_wait);
  if (slot != nullptr) {
    inputs_.give_up(*slot);
  }
  return slot;
}

Ticket Recording::submit(Slot& slot, const LaunchOptions& options, AfterSubmit then,
                         std::int64_t begin_ns) {
  try {
    start(slot, options, then, begin_ns);
  } catch (...) {
    slot.give_back();
    throw;
  }
  return Ticket({shared_from_this(), &slot});
}

void Recording::start(Slot& slot, const LaunchOptions& options, AfterSubmit then,
                      std::int64_t begin_ns) {
  std::unique_ptr<WatchInFlight> watched =
      watched_.take(sequence_, *core_, plan_, reporter_.event_id(), [&](const TapStaging& taps) {
        return bodies_.encode(bodies_.all(), taps, options.iterations);
      });
  const TimingMode mode = watched ? TimingMode::off : core_->timing_mode(timing_);
  const SlotLaunch launch{
      .body = watched ? watched->body() : bodies_.body(mode, options.iterations),
      .growths = growths_,
      .mode = mode,
      .iterations = options.iterations,
      .sequence = sequence_,
      .begin_ns = begin_ns,
      .then = then,
      .limits = inputs_.limits(slot)};
  try {
    submit_steps(slot, launch, bodies_.all(), watched ? watched->taps() : TapStaging());
  } catch (const Error& cause) {
    const Error error = slot.placed(cause, sequence_);
    reporter_.error(error);
    require_not_stale();  // another thread may have freed a buffer since
    throw error;
  }
  reporter_.launched(slot, std::move(watched));
  ++sequence_;
}

void Recording::submit_steps(Slot& slot, const SlotLaunch& launch, StepRange range,
                             const TapStaging& taps) {
  const auto encode = [&](StepRange rest) { return bodies_.rest(rest, taps); };
  launcher_.submit(slot, launch, range, encode, reporter_.event_id());
}

std::uint64_t Recording::bytes() const {
  const Buffer* arena = memory_.own_arena();
  std::uint64_t sum = arena == nullptr ? 0 : arena->bytes();
  for (const auto& slot : slots_.all()) {
    sum += slot->exchange().bytes();
  }
  return sum;
}

std::uint64_t Recording::upload() {
  require_not_stale();
  if (is_uploaded()) {
    return 0;
  }
  const auto running = core_->hold_running();
  const DriverWork work(core_->driver_events(), graph(), {.recording = reporter_.event_id()});
  const std::int64_t begin = now_ns();
  warm_up(device().backend(), plan_->steps, memory_.buffers());
  if (replays()) {
    const TimingMode mode = core_->timing_mode(timing_);
    for (const std::uint32_t iterations : std::set{1U, std::max(memory_.rows().capacity, 1U)}) {
      for (const auto& slot : slots_.all()) {
        slot->prepare(
            {.body = bodies_.body(mode, iterations), .mode = mode, .iterations = iterations});
      }
    }
  }
  uploaded_ = true;
  return static_cast<std::uint64_t>(now_ns() - begin);
}

std::optional<std::string> Recording::stale() {
  const Buffer* freed = memory_.first_freed();
  if (freed == nullptr) {
    return std::nullopt;
  }
  if (SessionProfile* profile = core_->profile()) {
    profile->buffer_freed(*freed);  // nobody told the executor earlier
  }
  return "The graph '" + graph().name + "' is stale: its buffer (" + freed->name() +
         ") was freed. Record it again, or rebind() it to the tensor that took its place.";
}

void Recording::require_not_stale() {
  if (const auto reason = stale()) {
    throw Error(ErrorCode::stale, *reason);
  }
}

void Recording::rebind(const TensorRef& from, const TensorRef& to) {
  Memory memory = memory_.rebound(from, to);
  const std::shared_ptr<Buffer> old = from->buffer;
  if (old == to->buffer) {
    return;
  }
  const std::int64_t begin = now_ns();
  // With another buffer freed nothing can be launched: the rebind that replaces the last one
  // encodes.
  Body body = memory.first_freed() == nullptr ? bodies_.encode_over(memory) : Body();
  memory.keep_rebound(*old, to->buffer);
  for (const auto& slot : slots_.all()) {
    slot->exchange().rebind(*old, to->buffer);
  }
  memory_ = std::move(memory);
  bodies_.replace(replays() ? std::move(body) : Body());
  watched_.forget_bodies();
  FinishReport report;  // a recording is an encoded plan, so this is another one
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
  reporter_.enter_again(report, memory_);
}

void Recording::completed(const Slot& slot) {
  replays_.fetch_add(slot.ran(), std::memory_order_relaxed);
  reporter_.completed(slot);
}

void Recording::failed(const Slot& slot, const Error& error) noexcept {
  reporter_.failed(slot, error);
}

PartialRun Recording::run_part(std::uint32_t node, bool alone) {
  const StepList& steps = plan_->steps;
  const std::vector<std::uint32_t>& ranks = plan_->ranks;
  if (node >= ranks.size()) {
    throw_invalid_argument("The graph '", graph().name, "' has no node (", node, "); it has ",
                           ranks.size(), ".");
  }
  if (ranks[node] == kNoIndex) {
    throw_invalid_argument("The graph '", graph().name, "' does not run ",
                           describe_node(graph(), node), ": a pass removed it.");
  }
  require_one_iteration();
  begin_run();
  StepRange range{0, 0};
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    range.begin += alone && ranks[steps[s].node] < ranks[node] ? 1U : 0U;
    range.end += ranks[steps[s].node] <= ranks[node] ? 1U : 0U;
  }
  run_once(range);
  return {shared_from_this(), node, runs_};
}

TappedRun Recording::run_tapped(const std::string& pattern) {
  require_one_iteration();
  begin_run();
  const TapList list = find_taps(*plan_, {.tensors = pattern}, ~std::uint64_t{0} / 2);
  TapStaging taps{list.taps};
  if (list.bytes > 0) {
    taps.staging = device().backend().allocate("tapped tensors", list.bytes, BufferKind::download,
                                               MemoryPurpose::exchange);
  }
  const std::vector<std::uint32_t> state = run_once(bodies_.all(), taps);
  TappedRun run;
  for (const Tap& tap : list.taps) {
    const TensorSpec spec = settled(graph().tensors[tap.tensor].spec, state);
    const std::byte* begin = taps.staging->mapped() + tap.staging_offset;
    run.tensors.push_back({tap, spec, {begin, begin + spec.bytes()}});
  }
  return run;
}

void Recording::require_one_iteration() const {
  const std::uint32_t most = memory_.rows().capacity;
  if (most > 1) {
    throw_invalid_argument("The graph '", graph().name, "' runs up to (", most,
                           ") iterations per launch; only graphs of one run in part.");
  }
}

std::vector<std::uint32_t> Recording::run_once(StepRange range, const TapStaging& taps) {
  struct Part final : SlotOwner {
    explicit Part(std::string_view of) : graph(of) {}
    std::string_view graph_name() const override { return graph; }
    std::string_view graph;
  } part(graph_name());
  Staging staging;
  Slot slot(device(), state(), slots_.all().front()->exchange().inputs(), {}, IterationRows(),
            staging, part);
  inputs_.require_given();
  inputs_.fill_once(slot);
  const Body body = bodies_.encode(range, taps);
  submit_steps(slot,
               {.body = body,
                .begin_ns = now_ns(),
                .limits = inputs_.limits(),
                .keeps_patches = range.begin > 0},
               range, taps);
  slot.wait();
  const std::span<const std::uint32_t> state = slot.state_words(0);
  return {state.begin(), state.end()};
}

}  // namespace reprise
