// SlotExchange: what crosses between host and device in the submissions of a slot, where it lies in
// staging memory, and the encodings that copy it. The prologue copies state, patches and inputs to
// the device; the epilogue copies outputs, state and timestamps back.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "framework/core/iteration_header.h"
#include "framework/session/device/staging.h"
#include "framework/session/replay/slot_launch.h"
#include "framework/session/state/iteration_rows.h"
#include "framework/session/state/state_exchange.h"

namespace reprise {

/// A named tensor that crosses between host and device, and where it lives there.
struct Exchange {
  std::string name;
  TensorSpec spec;  // contiguous
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t staging_offset = 0;  // set by its slot
};

/// Threads: the slot's.
class SlotExchange {
 public:
  /// Grows `staging` as needed. Lifetime: `state` outlives this.
  SlotExchange(const Device& device, const StateExchange& state, std::vector<Exchange> inputs,
               const IterationRows& rows, Staging& staging);

  const std::vector<Exchange>& inputs() const { return inputs_; }
  const std::vector<Exchange>& outputs() const { return outputs_; }
  std::byte* input_bytes(std::size_t input) const {
    return staging_.upload->mapped() + inputs_[input].staging_offset;
  }
  const IterationRows& rows() const { return rows_; }
  const Staging& staging() const { return staging_; }
  /// Before anything was brought back to the host: grows `staging` as needed.
  void set_outputs(std::vector<Exchange> outputs, Staging& staging);
  /// Later submissions exchange with `to` what they did with `from`; those in flight go on.
  void rebind(const Buffer& from, const std::shared_ptr<Buffer>& to);
  /// What a submission runs, valid until the next call; encodes what runs for the first time. The
  /// caller may add to it.
  std::vector<EncodingRef>& encodings(const SlotLaunch& launch);

  // What a complete submission left.
  /// The bytes of an output, of which `spec` is there.
  std::span<const std::byte> output_bytes(const Exchange& output, const TensorSpec& spec) const {
    return {staging_.download->mapped() + output.staging_offset, spec.bytes()};
  }
  /// Of graphs with iterations: how many ran, and the row of one that did.
  std::uint32_t ran() const { return iteration_word(kIterationsRun); }
  /// Where the last one stopped; 0: it did not.
  std::uint32_t stopped_at() const { return iteration_word(kIterationStop); }
  const std::byte* row(std::uint32_t iteration) const {
    return staging_.download->mapped() + rows_offset_ + iteration * rows_.row_bytes();
  }
  /// Of an iteration: its start and end, or those of its steps.
  std::span<const std::uint64_t> ticks(TimingMode mode, std::uint32_t iteration) const;

  /// Of the memory it has for itself.
  std::uint64_t bytes() const;

 private:
  static constexpr std::size_t kModes = 4;
  std::uint32_t iteration_word(std::size_t word) const;
  EncodingRef prologue(TimingMode mode) const;
  EncodingRef epilogue(const SlotLaunch& launch);
  /// After a body, before the next one or the epilogue; null: nothing. Valid until the next call.
  const EncodingRef* after_body(const SlotLaunch& launch, std::uint32_t iteration);
  /// Copies the timestamps of an iteration's steps to the host.
  void resolve_steps(Encoder& encoder, const Body& body, std::uint32_t iteration);
  void forget_encodings();

  Device device_;
  const StateExchange& state_;
  std::vector<Exchange> inputs_, outputs_;
  IterationRows rows_;
  Staging staging_;
  std::uint64_t zero_offset_ = 0;  // in the upload buffer: the word that starts a count of rows
  // In the download buffer:
  std::uint64_t count_offset_ = 0, rows_offset_ = 0, ticks_offset_ = 0;
  std::shared_ptr<Buffer> step_ticks_;  // node modes: of every iteration
  std::uint32_t step_stamps_ = 0;       // of one iteration
  std::array<EncodingRef, kModes> prologues_;
  std::array<std::vector<EncodingRef>, kModes> between_;  // by iteration
  std::map<std::pair<TimingMode, std::uint32_t>, EncodingRef> epilogues_;
  std::vector<EncodingRef> list_;  // of a submission: no allocation per launch
};

}  // namespace reprise
