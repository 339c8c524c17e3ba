#include "framework/session/replay/slot.h"

#include <algorithm>

#include "framework/core/known_names.h"
#include "framework/session/executor/host_clock.h"
#include "reprise/session/session_options.h"

namespace reprise {

Slot::Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
           std::vector<Exchange> outputs, const IterationRows& rows, Staging& staging,
           SlotOwner& owner, std::uint32_t index)
    : device_(device),
      state_(device, std::move(state)),
      exchange_(device, state_, std::move(inputs), rows, staging),
      owner_(owner),
      index_(index),
      clock_(device.info()) {
  exchange_.set_outputs(std::move(outputs), staging);
}

void Slot::prepare(const SlotLaunch& launch) {
  if (!in_hands()) {
    exchange_.encodings(launch);
  }
}

void Slot::submit(const SlotLaunch& launch) {
  std::vector<EncodingRef>& list = exchange_.encodings(launch);
  const std::unique_lock<std::mutex> lock =
      launch.sends ? state_.send(exchange_.staging(), list, launch.limits) : state_.hold();
  const std::int64_t submit_ns = now_ns();
  try {
    times_.submission = device_.backend().submit(list, launch.then);
  } catch (...) {
    if (launch.sends) {
      state_.failed();
    }
    throw;
  }
  state_.submitted(times_.submission, launch.growths, launch.iterations,
                   !exchange_.rows() && !launch.nothing_runs);
  if (launch.keeps_patches) {
    state_.failed();
  }
  times_ = {.submission = times_.submission,
            .submit_time_ns = submit_ns,
            .prepare_ns = static_cast<std::uint64_t>(submit_ns - launch.begin_ns),
            .submit_ns = static_cast<std::uint64_t>(now_ns() - submit_ns)};
  unfinished_ = times_.submission;
}

void Slot::hold(const SlotLaunch& launch, TimingMode mode) {
  unfinished_ = 0;
  mode_ = mode;
  sequence_ = launch.sequence;
  iterations_ = launch.iterations;
  nothing_runs_ = launch.nothing_runs;
  complete_ = failed_ = false;
  phase_.store(Phase::held, std::memory_order_release);
}

std::span<const std::uint32_t> Slot::state_now() const {
  return {reinterpret_cast<const std::uint32_t*>(exchange_.staging().download->mapped()),
          state_.block_words()};
}

void Slot::add_parts(const SubmissionTimes& all) {
  times_.submit_time_ns = all.submit_time_ns;
  times_.prepare_ns = all.prepare_ns;
  times_.submit_ns = all.submit_ns;
  times_.wait_ns += all.wait_ns;
  times_.host_step_ns += all.host_step_ns;
  times_.submits = all.submits;
}

std::span<const std::uint64_t> Slot::step_ticks(std::uint32_t iteration) const {
  return mode_ == TimingMode::replay ? std::span<const std::uint64_t>()
                                     : exchange_.ticks(mode_, iteration);
}

DeviceTime Slot::device_time(std::uint32_t iteration) const {
  const std::span<const std::uint64_t> stamps = exchange_.ticks(mode_, iteration);
  if (stamps.empty()) {
    return {};
  }
  return {clock_.moment_ns(stamps.front()), clock_.between_ns(stamps.front(), stamps.back())};
}

std::span<const std::uint32_t> Slot::state_words(std::uint32_t iteration) const {
  if (!exchange_.rows()) {
    return state_.words();
  }
  return {reinterpret_cast<const std::uint32_t*>(exchange_.row(iteration)), state_.block_words()};
}

void Slot::complete() {
  if (complete_) {
    return;
  }
  complete_ = true;
  state_.receive(exchange_.staging(), times_.submission);
  ran_ = nothing_runs_ ? 0 : 1;
  if (exchange_.rows()) {
    ran_ = std::min(exchange_.ran(), iterations_);
  }
  const DeviceTime first = device_time(0);
  times_.device_start_ns = first.start_ns;
  times_.device_ns = first.duration_ns;
  for (std::uint32_t i = 1; i < iterations_ && times_.device_ns; ++i) {
    const std::span<const std::uint64_t> stamps = exchange_.ticks(mode_, i);
    *times_.device_ns += clock_.between_ns(stamps.front(), stamps.back());
  }
  owner_.completed(*this);
}

Error Slot::placed(const Error& cause, std::optional<std::uint64_t> replay,
                   std::optional<std::uint64_t> submission) const {
  const std::string graph(owner_.graph_name());
  return {cause,
          "(graph '" + graph + "'" + (replay ? ", replay " + std::to_string(*replay) : "") +
              (submission ? ", submission " + std::to_string(*submission) : "") + ")",
          {.graph = graph, .replay = replay, .submission = submission}};
}

template <class F>
auto Slot::reporting_failures(F&& f) {
  try {
    return f();
  } catch (const Error& cause) {
    const Error error = placed(cause, sequence_, times_.submission);
    if (!failed_) {
      failed_ = true;
      owner_.failed(*this, error);
    }
    throw error;
  }
}

bool Slot::done() {
  if (!complete_ &&
      reporting_failures([&] { return device_.backend().complete(times_.submission); })) {
    complete();
  }
  return complete_;
}

void Slot::wait() {
  if (!complete_) {
    const std::int64_t begin = now_ns();
    reporting_failures([&] { device_.backend().wait(times_.submission); });
    times_.wait_ns += static_cast<std::uint64_t>(now_ns() - begin);
    complete();
  }
}

void Slot::release() noexcept {
  phase_ = complete_ ? Phase::idle : Phase::released;
  owner_.released();
}

void Slot::reclaim() {
  if (unfinished_ != 0) {
    device_.backend().wait(unfinished_);
    unfinished_ = 0;
  }
  if (phase() == Phase::released) {
    wait();
    phase_.store(Phase::idle, std::memory_order_relaxed);
  }
}

bool Slot::in_hands() const {
  const Phase now = phase();
  return now == Phase::reserved || now == Phase::held;
}

void Slot::reserve() {
  reclaim();
  phase_.store(Phase::reserved, std::memory_order_relaxed);
}

void Slot::require_ran(std::uint32_t iteration) const {
  if (iteration >= ran_) {
    throw_invalid_argument("Iteration (", iteration, ") of a launch of ", iterations_,
                           " did not run: ", ran_, " did.");
  }
}

OutputView Slot::output(std::string_view name, std::optional<std::uint32_t> iteration) const {
  const std::vector<Exchange>& outputs = exchange_.outputs();
  const std::uint32_t index = index_named(outputs, name, &Exchange::name);
  if (index == kNoIndex) {
    throw_unknown_name("The graph '" + std::string(owner_.graph_name()) + "'", "output", name,
                       names_of(outputs, &Exchange::name));
  }
  require_ran(iteration.value_or(0));
  const Exchange& output = outputs[index];
  const IterationRows& rows = exchange_.rows();
  if (const std::uint32_t word = rows && iteration ? rows.output_words[index] : kNoIndex;
      word != kNoIndex) {
    return {output.spec,
            {exchange_.row(*iteration) + word * StateLayout::kWordBytes, output.spec.bytes()}};
  }
  if (iteration && *iteration + 1 != ran_) {
    throw_invalid_argument(
        "The output '", output.name, "' ", to_string(output.spec), " of iteration (", *iteration,
        ") is not kept, only that of the last one that ran (", ran_ - 1,
        "): rows have outputs of up to ", kRowOutputBytes, " bytes in elements of 4 bytes.");
  }
  const TensorSpec spec = settled(output.spec, state_.words());
  return {spec, exchange_.output_bytes(output, spec)};
}

std::uint32_t Slot::state(std::string_view field, DType dtype,
                          std::optional<std::uint32_t> iteration) const {
  const std::uint32_t word = state_.word_of(field, dtype);
  if (!iteration) {
    return state_.words()[word];
  }
  require_ran(*iteration);
  return state_words(*iteration)[word];
}

}  // namespace reprise
