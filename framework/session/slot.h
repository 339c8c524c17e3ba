// Slot: what host and device exchange in one submission. Its prologue copies state and inputs to
// the device, its epilogue copies state and outputs back; the steps in between belong to the
// caller.
#pragma once
#include <string>
#include <vector>

#include "reprise/session/state_block.h"

namespace reprise {

/// A named tensor that crosses between host and device, and where it lives there.
struct Exchange {
  std::string name;
  TensorSpec spec;  // contiguous
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t staging_offset = 0;  // set by the slot
};

/// Upload and download buffers that successive slots may share.
struct Staging {
  std::shared_ptr<Buffer> upload, download;
};

struct SubmissionTimes {
  std::int64_t submit_time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t submission = 0;
  std::uint64_t prepare_ns = 0, submit_ns = 0, wait_ns = 0;
  std::optional<std::uint64_t> device_ns;
};

/// One submission at a time. Not thread-safe.
class Slot {
 public:
  /// Grows `staging` as needed and encodes prologue and epilogue.
  Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
       std::vector<Exchange> outputs, Staging& staging);
  const std::vector<Exchange>& inputs() const { return inputs_; }
  const std::vector<Exchange>& outputs() const { return outputs_; }
  std::byte* input_bytes(const Exchange& input) const {
    return staging_.upload->mapped() + input.staging_offset;
  }
  const std::byte* output_bytes(const Exchange& output) const {
    return staging_.download->mapped() + output.staging_offset;
  }
  /// Submits [prologue, body, epilogue] and waits.
  SubmissionTimes run(const Encoding& body);
  /// The state block after the last run; empty without state.
  const std::vector<std::uint32_t>& state_words() const { return state_words_; }

 private:
  void write_state();
  void read_state();
  std::uint64_t patch_offset() const;

  Device device_;
  StateBlock state_;
  std::vector<Exchange> inputs_, outputs_;
  Staging staging_;
  std::uint64_t state_offset_ = 0;  // of the returned block in the download buffer
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Encoding> prologue_, epilogue_;
  std::vector<std::uint32_t> state_words_;
};

}  // namespace reprise
