// The two encodings around a body: the prologue copies state, patches and inputs to the device, the
// epilogue copies outputs, state and timestamps back.
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

/// What a slot needs of the device; successive slots may share it.
struct Staging {
  std::shared_ptr<Buffer> upload, download;
  std::shared_ptr<Timestamps> stamps;  // around the body; null until used, or untimed
};

struct SlotEnds {
  EncodingRef prologue, epilogue;
};

/// A piece of the staging buffers and its counterpart on the device.
struct StagedCopy {
  std::uint64_t staging_offset = 0;
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t bytes = 0;
};

struct SlotEncodingPlan {
  std::vector<StagedCopy> up, down;
  /// Taken around the body; null: no timestamps.
  std::shared_ptr<Timestamps> around;
  /// Where the epilogue puts the ticks of `resolved`, which may be `around` or the body's own.
  std::shared_ptr<Timestamps> resolved;
  std::shared_ptr<Buffer> ticks;
  std::uint64_t ticks_offset = 0;
};
SlotEnds encode_slot_ends(Backend& backend, const Staging& staging, const SlotEncodingPlan& plan);

}  // namespace reprise
