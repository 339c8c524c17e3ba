#include "framework/session/replay/slot_exchange.h"

#include <algorithm>
#include <cstring>

namespace reprise {
namespace {

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

SlotExchange::SlotExchange(const Device& device, const StateExchange& state,
                           std::vector<Exchange> inputs, const IterationRows& rows,
                           Staging& staging)
    : device_(device), state_(state), inputs_(std::move(inputs)), rows_(rows) {
  zero_offset_ = state_.upload_bytes();
  const std::uint64_t zero_end = zero_offset_ + (rows_ ? staging_aligned(kWordBytes) : 0);
  grow(device_, staging.upload, "slot upload",
       std::max<std::uint64_t>(lay_out(inputs_, zero_end), kWordBytes), BufferKind::upload,
       MemoryPurpose::exchange);
  if (rows_) {
    std::memset(staging.upload->mapped() + zero_offset_, 0, kWordBytes);
  }
}

void SlotExchange::set_outputs(std::vector<Exchange> outputs, Staging& staging) {
  outputs_ = std::move(outputs);
  count_offset_ = lay_out(outputs_, state_.download_bytes());
  rows_offset_ = count_offset_ + (rows_ ? staging_aligned(kGridHeaderWords * kWordBytes) : 0);
  ticks_offset_ = staging_aligned(rows_offset_ + rows_.capacity * rows_.row_bytes());
  const std::uint32_t stamps = rows_.capacity + 1;
  grow(device_, staging.download, "slot download", ticks_offset_ + stamps * sizeof(std::uint64_t),
       BufferKind::download, MemoryPurpose::exchange);
  if (staging.stamps == nullptr) {
    staging.stamps = device_.backend().timestamps(stamps);
  }
  staging_ = staging;
}

void SlotExchange::rebind(const Buffer& from, const std::shared_ptr<Buffer>& to) {
  for (std::vector<Exchange>* exchanges : {&inputs_, &outputs_}) {
    for (Exchange& exchange : *exchanges) {
      if (exchange.buffer.get() == &from) {
        exchange.buffer = to;
      }
    }
  }
  // They exchange with that buffer, or copy the timestamps of a body that is encoded anew.
  forget_encodings();
}

void SlotExchange::forget_encodings() {
  prologues_ = {};
  between_ = {};
  epilogues_.clear();
  list_.clear();
}

EncodingRef SlotExchange::prologue(TimingMode mode) const {
  std::vector<StagedCopy> copies = copies_of(inputs_);
  state_.add_uploads(copies);
  if (rows_) {
    copies.push_back(copy_of(rows_.iteration, zero_offset_, kWordBytes));
  }
  return encode_prologue(device_.backend(), staging_, copies,
                         mode == TimingMode::replay ? staging_.stamps : nullptr);
}

EncodingRef SlotExchange::epilogue(const SlotLaunch& launch) {
  std::vector<StagedCopy> copies = copies_of(outputs_);
  state_.add_downloads(copies);
  if (rows_) {
    const std::uint64_t iterations = launch.done + launch.iterations;
    copies.push_back(copy_of(rows_.iteration, count_offset_, kGridHeaderWords * kWordBytes));
    copies.push_back(copy_of(rows_.rows, rows_offset_, iterations * rows_.row_bytes()));
  }
  Backend& backend = device_.backend();
  const auto encoder = backend.encoder(
      {.name = "epilogue", .reusable = backend.traits().replays, .ends_at_host = true});
  if (launch.mode == TimingMode::replay) {
    encoder->stamp(staging_.stamps, launch.iterations);
    encoder->resolve(staging_.stamps, launch.iterations + 1, staging_.download, ticks_offset_);
  } else if (!rows_ && launch.body.stamps != nullptr) {
    resolve_steps(*encoder, launch.body, 0);
  }
  encode_downloads(*encoder, staging_.download, copies);
  return encoder->finish();
}

void SlotExchange::resolve_steps(Encoder& encoder, const Body& body, std::uint32_t iteration) {
  step_stamps_ = body.stamps->count();
  const std::uint64_t bytes = step_stamps_ * sizeof(std::uint64_t);
  if (step_ticks_ == nullptr) {
    step_ticks_ = device_.backend().allocate("step timestamps", rows_.capacity * bytes,
                                             BufferKind::download, MemoryPurpose::exchange);
  }
  encoder.resolve(body.stamps, step_stamps_, step_ticks_, iteration * bytes);
}

const EncodingRef* SlotExchange::after_body(const SlotLaunch& launch, std::uint32_t iteration) {
  // Before the last part some steps have not been stamped yet.
  const bool steps = launch.body.stamps != nullptr && launch.brings_back;
  const bool last = iteration + 1 == launch.iterations;
  if (!rows_ || (!steps && (launch.mode != TimingMode::replay || last))) {
    return nullptr;
  }
  std::vector<EncodingRef>& known = between_[static_cast<std::size_t>(launch.mode)];
  if (known.size() <= iteration) {
    Backend& backend = device_.backend();
    const auto encoder =
        backend.encoder({.name = "iteration", .reusable = backend.traits().replays});
    if (steps) {
      resolve_steps(*encoder, launch.body, iteration);
    } else {
      encoder->stamp(staging_.stamps, iteration + 1);
    }
    known.push_back(encoder->finish());
  }
  return &known[iteration];
}

std::vector<EncodingRef>& SlotExchange::encodings(const SlotLaunch& launch) {
  if (!device_.backend().traits().replays) {
    forget_encodings();
  }
  // A launch like the one before changes nothing here: counting references costs more than looking.
  std::size_t count = 0;
  const auto run = [&](const EncodingRef& encoding) {
    if (count == list_.size()) {
      list_.push_back(encoding);
    } else if (list_[count] != encoding) {
      list_[count] = encoding;
    }
    ++count;
  };
  if (launch.sends) {
    EncodingRef& first = prologues_[static_cast<std::size_t>(launch.mode)];
    if (first == nullptr) {
      first = prologue(launch.mode);
    }
    run(first);
  }
  for (std::uint32_t i = 0; i < launch.iterations; ++i) {
    const Body& body = launch.body;
    run(i == 0 || body.next.empty() ? body.encoding : body.next[i - 1]);
    if (const EncodingRef* between = after_body(launch, i)) {
      run(*between);
    }
  }
  if (launch.brings_back) {
    EncodingRef& last = epilogues_[{launch.mode, launch.done + launch.iterations}];
    if (last == nullptr) {
      last = epilogue(launch);
    }
    run(last);
  }
  list_.resize(count);
  return list_;
}

std::uint32_t SlotExchange::iteration_word(std::size_t word) const {
  std::uint32_t value = 0;
  std::memcpy(&value, staging_.download->mapped() + count_offset_ + word * kWordBytes, kWordBytes);
  return value;
}

std::span<const std::uint64_t> SlotExchange::ticks(TimingMode mode, std::uint32_t iteration) const {
  if (mode == TimingMode::off) {
    return {};
  }
  if (mode == TimingMode::replay) {
    const auto* stamps =
        reinterpret_cast<const std::uint64_t*>(staging_.download->mapped() + ticks_offset_);
    return {stamps + iteration, 2};
  }
  return {reinterpret_cast<const std::uint64_t*>(step_ticks_->mapped()) +
              std::size_t{iteration} * step_stamps_,
          step_stamps_};
}

std::uint64_t SlotExchange::bytes() const {
  return staging_.upload->bytes() + staging_.download->bytes() +
         (step_ticks_ == nullptr ? 0 : step_ticks_->bytes());
}

}  // namespace reprise
