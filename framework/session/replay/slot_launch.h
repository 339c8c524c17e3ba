// SlotLaunch: what a submission through a slot does.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/core/op.h"
#include "reprise/backend/backend.h"
#include "reprise/profile.h"

namespace reprise {

struct ExtentLimit;

/// One encoding of the steps between prologue and epilogue.
struct Body {
  EncodingRef encoding;
  std::shared_ptr<Timestamps> stamps;   // node modes: taken by the body itself
  std::vector<EncodingRef> next{};      // without replay: those of the iterations after the first
  std::vector<EncodingRef> segments{};  // what follows the first host step, the second one, ...
};

/// What a submission does.
struct SlotLaunch {
  const Body& body;
  std::span<const StateGrowth> growths{};  // of the body, or of what this part runs of it
  TimingMode mode = TimingMode::off;
  std::uint32_t iterations = 1;
  std::optional<std::uint64_t> sequence{};  // launches of the graph before this one
  std::int64_t begin_ns = 0;                // when preparing began
  AfterSubmit then = AfterSubmit::will_wait;
  // Host steps cut a submission into parts, and direct sessions may be split:
  bool sends = true;                      // state and inputs: the first part
  bool brings_back = true;                // outputs and state: the last one
  std::span<const ExtentLimit> limits{};  // of the state that is sent
  bool nothing_runs = false;              // of a direct session without rows
  bool keeps_patches = false;  // the body does not apply patches: they go with the next launch too
  std::uint32_t done = 0;      // iterations before those of this part, where the device stopped
};

}  // namespace reprise
