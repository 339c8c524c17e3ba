#include "framework/session/replay/slot.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "framework/session/executor/host_clock.h"
#include "reprise/core/known_names.h"
#include "reprise/session/session_options.h"

namespace reprise {
namespace {

bool sends(SlotPart part) { return part == SlotPart::whole || part == SlotPart::first; }
bool brings_back(SlotPart part) { return part == SlotPart::whole || part == SlotPart::last; }

constexpr std::uint64_t kWordBytes = 4;

std::uint64_t lay_out(std::vector<Exchange>& tensors, std::uint64_t offset) {
  for (Exchange& t : tensors) {
    t.staging_offset = offset;
    offset = staging_aligned(offset + t.spec.bytes());
  }
  return offset;
}

std::vector<StagedCopy> copies_of(const std::vector<Exchange>& tensors) {
  std::vector<StagedCopy> copies;
  copies.reserve(tensors.size());
  for (const Exchange& t : tensors) {
    copies.push_back({t.staging_offset, t.buffer, t.buffer_offset, t.spec.bytes()});
  }
  return copies;
}

}  // namespace

const Exchange& find_exchange(const std::vector<Exchange>& list, std::string_view graph,
                              std::string_view kind, std::string_view name) {
  const auto it = std::ranges::find(list, name, &Exchange::name);
  if (it == list.end()) {
    throw_unknown_name("The graph '" + std::string(graph) + "'", kind, name,
                       names_of(list, &Exchange::name));
  }
  return *it;
}

Slot::Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
           std::vector<Exchange> outputs, const IterationRows& rows, Staging& staging,
           SlotOwner& owner, std::uint32_t index)
    : device_(device),
      state_(device, std::move(state)),
      inputs_(std::move(inputs)),
      owner_(owner),
      index_(index),
      clock_(device.info()),
      rows_(rows) {
  zero_offset_ = state_.upload_bytes();
  const std::uint64_t zero_end = zero_offset_ + (rows_ ? staging_aligned(kWordBytes) : 0);
  grow(device_, staging.upload, "slot upload",
       std::max<std::uint64_t>(lay_out(inputs_, zero_end), kWordBytes), BufferKind::upload,
       MemoryPurpose::exchange);
  set_outputs(std::move(outputs), staging);
  if (rows_) {
    std::memset(staging_.upload->mapped() + zero_offset_, 0, kWordBytes);
  }
}

void Slot::set_outputs(std::vector<Exchange> outputs, Staging& staging) {
  outputs_ = std::move(outputs);
  count_offset_ = lay_out(outputs_, state_.download_bytes());
  rows_offset_ = count_offset_ + (rows_ ? staging_aligned(kWordBytes) : 0);
  ticks_offset_ = staging_aligned(rows_offset_ + rows_.capacity * rows_.row_bytes());
  const std::uint32_t stamps = rows_.capacity + 1;
  grow(device_, staging.download, "slot download", ticks_offset_ + stamps * sizeof(std::uint64_t),
       BufferKind::download, MemoryPurpose::exchange);
  if (staging.stamps == nullptr) {
    staging.stamps = device_.backend().timestamps(stamps);
  }
  staging_ = staging;
}

EncodingRef Slot::encode_prologue_of(TimingMode mode) const {
  std::vector<StagedCopy> copies = copies_of(inputs_);
  state_.add_uploads(copies);
  if (rows_) {
    copies.push_back(copy_of(rows_.iteration, zero_offset_, kWordBytes));
  }
  return encode_prologue(device_.backend(), staging_, copies,
                         mode == TimingMode::replay ? staging_.stamps : nullptr);
}

EncodingRef Slot::encode_epilogue_of(const SlotLaunch& launch) {
  std::vector<StagedCopy> copies = copies_of(outputs_);
  state_.add_downloads(copies);
  if (rows_) {
    copies.push_back(copy_of(rows_.iteration, count_offset_, kWordBytes));
    copies.push_back(copy_of(rows_.rows, rows_offset_, launch.iterations * rows_.row_bytes()));
  }
  ResolvedStamps resolved;
  const bool around = launch.mode == TimingMode::replay;
  if (around) {
    resolved = {staging_.stamps, launch.iterations + 1, staging_.download, ticks_offset_};
  } else if (!rows_ && launch.body.stamps != nullptr) {
    resolved = step_stamps(launch.body, 0);
  }
  return encode_epilogue(device_.backend(), staging_, copies, resolved, around);
}

ResolvedStamps Slot::step_stamps(const Body& body, std::uint32_t iteration) {
  step_stamps_ = body.stamps->count();
  const std::uint64_t bytes = step_stamps_ * sizeof(std::uint64_t);
  if (step_ticks_ == nullptr) {
    step_ticks_ = device_.backend().allocate("step timestamps", rows_.capacity * bytes,
                                             BufferKind::download, MemoryPurpose::exchange);
  }
  return {body.stamps, step_stamps_, step_ticks_, iteration * bytes};
}

EncodingRef Slot::after_body(const SlotLaunch& launch, std::uint32_t iteration) {
  const bool steps = launch.body.stamps != nullptr;
  const bool last = iteration + 1 == launch.iterations;
  if (!rows_ || (!steps && (launch.mode != TimingMode::replay || last))) {
    return nullptr;
  }
  std::vector<EncodingRef>& known = between_[static_cast<std::size_t>(launch.mode)];
  if (known.size() <= iteration) {
    Backend& backend = device_.backend();
    known.push_back(steps ? encode_resolve(backend, step_stamps(launch.body, iteration))
                          : encode_stamp(backend, staging_.stamps, iteration + 1));
  }
  return known[iteration];
}

void Slot::list_encodings(const SlotLaunch& launch) {
  if (!device_.backend().traits().replays) {
    prologues_ = {};
    between_ = {};
    epilogues_.clear();
  }
  list_.clear();
  if (sends(launch.part)) {
    EncodingRef& prologue = prologues_[static_cast<std::size_t>(launch.mode)];
    if (prologue == nullptr) {
      prologue = encode_prologue_of(launch.mode);
    }
    list_.push_back(prologue);
  }
  for (std::uint32_t i = 0; i < launch.iterations; ++i) {
    const Body& body = launch.body;
    list_.push_back(i == 0 || body.next.empty() ? body.encoding : body.next[i - 1]);
    if (EncodingRef between = after_body(launch, i)) {
      list_.push_back(std::move(between));
    }
  }
  if (brings_back(launch.part)) {
    EncodingRef& epilogue = epilogues_[{launch.mode, launch.iterations}];
    if (epilogue == nullptr) {
      epilogue = encode_epilogue_of(launch);
    }
    list_.push_back(epilogue);
  }
}

void Slot::rebind(const Buffer& from, const std::shared_ptr<Buffer>& to) {
  for (std::vector<Exchange>* exchanges : {&inputs_, &outputs_}) {
    for (Exchange& exchange : *exchanges) {
      if (exchange.buffer.get() == &from) {
        exchange.buffer = to;
      }
    }
  }
  // They exchange with that buffer, or copy the timestamps of a body that is encoded anew.
  prologues_ = {};
  between_ = {};
  epilogues_.clear();
  list_.clear();
}

void Slot::submit(const SlotLaunch& launch) {
  list_encodings(launch);
  const std::unique_lock<std::mutex> lock =
      sends(launch.part) ? state_.send(staging_, list_, launch.limits) : state_.hold();
  const std::int64_t submit_ns = now_ns();
  try {
    times_.submission = device_.backend().submit(list_, launch.then);
  } catch (...) {
    if (sends(launch.part)) {
      state_.failed();
    }
    throw;
  }
  state_.submitted(times_.submission, launch.growths, launch.iterations,
                   !rows_ && !launch.nothing_runs);
  if (launch.keeps_patches) {
    state_.failed();
  }
  times_ = {.submission = times_.submission,
            .submit_time_ns = submit_ns,
            .prepare_ns = static_cast<std::uint64_t>(submit_ns - launch.begin_ns),
            .submit_ns = static_cast<std::uint64_t>(now_ns() - submit_ns)};
  unfinished_ = brings_back(launch.part) ? 0 : times_.submission;
  if (unfinished_ != 0) {
    return;
  }
  mode_ = launch.mode;
  sequence_ = launch.sequence;
  iterations_ = launch.iterations;
  nothing_runs_ = launch.nothing_runs;
  complete_ = failed_ = false;
  phase_.store(Phase::held, std::memory_order_release);
}

void Slot::add_parts(const SubmissionTimes& before) {
  times_.submit_time_ns = before.submit_time_ns;
  times_.prepare_ns = before.prepare_ns;
  times_.submit_ns += before.submit_ns;
  times_.wait_ns += before.wait_ns;
  times_.host_step_ns += before.host_step_ns;
  times_.submits += before.submits;
}

void Slot::abandon() noexcept {
  complete_ = true;
  unfinished_ = times_.submission;
  phase_.store(Phase::idle, std::memory_order_release);
}

std::span<const std::uint64_t> Slot::ticks(std::uint32_t iteration) const {
  if (mode_ == TimingMode::off) {
    return {};
  }
  if (mode_ == TimingMode::replay) {
    const auto* stamps =
        reinterpret_cast<const std::uint64_t*>(staging_.download->mapped() + ticks_offset_);
    return {stamps + iteration, 2};
  }
  return {reinterpret_cast<const std::uint64_t*>(step_ticks_->mapped()) +
              std::size_t{iteration} * step_stamps_,
          step_stamps_};
}

std::span<const std::uint64_t> Slot::step_ticks(std::uint32_t iteration) const {
  return mode_ == TimingMode::replay ? std::span<const std::uint64_t>() : ticks(iteration);
}

DeviceTime Slot::device_time(std::uint32_t iteration) const {
  const std::span<const std::uint64_t> stamps = ticks(iteration);
  if (stamps.empty()) {
    return {};
  }
  return {clock_.moment_ns(stamps.front()), clock_.between_ns(stamps.front(), stamps.back())};
}

std::span<const std::uint32_t> Slot::state_words(std::uint32_t iteration) const {
  if (!rows_) {
    return state_.words();
  }
  const auto* row = reinterpret_cast<const std::uint32_t*>(
      staging_.download->mapped() + rows_offset_ + iteration * rows_.row_bytes());
  return {row, state_.block_words()};
}

void Slot::complete() {
  if (complete_) {
    return;
  }
  complete_ = true;
  state_.receive(staging_, times_.submission);
  ran_ = nothing_runs_ ? 0 : 1;
  if (rows_) {
    std::memcpy(&ran_, staging_.download->mapped() + count_offset_, kWordBytes);
    ran_ = std::min(ran_, iterations_);
  }
  const DeviceTime first = device_time(0);
  times_.device_start_ns = first.start_ns;
  times_.device_ns = first.duration_ns;
  for (std::uint32_t i = 1; i < iterations_ && times_.device_ns; ++i) {
    *times_.device_ns += device_time(i).duration_ns.value_or(0);
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
  phase_.store(complete_ ? Phase::idle : Phase::released, std::memory_order_release);
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
    throw_invalid_argument("Iteration (" + std::to_string(iteration) + ") of a launch of " +
                           std::to_string(iterations_) + " did not run: " + std::to_string(ran_) +
                           " did.");
  }
}

std::uint64_t Slot::bytes() const {
  return staging_.upload->bytes() + staging_.download->bytes() +
         (step_ticks_ == nullptr ? 0 : step_ticks_->bytes());
}

OutputView Slot::output(const Exchange& output) const {
  TensorSpec spec = output.spec;
  if (!spec.shape.fixed()) {
    spec.shape = spec.shape.with_front(state_.words()[spec.shape.extent_word()]);
  }
  return {spec, {staging_.download->mapped() + output.staging_offset, spec.bytes()}};
}

OutputView Slot::output(std::string_view name) const {
  const Exchange& output = find_exchange(outputs_, owner_.graph_name(), "output", name);
  require_ran(0);
  return this->output(output);
}

OutputView Slot::output(std::string_view name, std::uint32_t iteration) const {
  const Exchange& output = find_exchange(outputs_, owner_.graph_name(), "output", name);
  require_ran(iteration);
  const std::uint32_t word =
      rows_ ? rows_.output_words[static_cast<std::size_t>(&output - outputs_.data())] : kNoIndex;
  if (word != kNoIndex) {
    return {output.spec,
            {staging_.download->mapped() + rows_offset_ + iteration * rows_.row_bytes() +
                 word * kWordBytes,
             output.spec.bytes()}};
  }
  if (iteration + 1 != ran_) {
    throw_invalid_argument("The output '" + output.name + "' " + to_string(output.spec) +
                           " of iteration (" + std::to_string(iteration) +
                           ") is not kept, only that of the last one that ran (" +
                           std::to_string(ran_ - 1) + "): rows have outputs of up to " +
                           std::to_string(kRowOutputBytes) + " bytes in elements of 4 bytes.");
  }
  return this->output(output);
}

std::uint32_t Slot::state(std::string_view field, DType dtype) const {
  return state_.words()[state_.word_of(field, dtype)];
}

std::uint32_t Slot::state(std::string_view field, DType dtype, std::uint32_t iteration) const {
  const std::uint32_t word = state_.word_of(field, dtype);
  require_ran(iteration);
  return state_words(iteration)[word];
}

}  // namespace reprise
