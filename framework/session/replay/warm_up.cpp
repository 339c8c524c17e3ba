#include "framework/session/replay/warm_up.h"

#include <algorithm>

#include "framework/session/executor/host_clock.h"

namespace reprise {
namespace {

// A uniform block of the state has 4 KiB; other bindings may be of any size.
constexpr std::uint64_t kScratchBytes = 4096;

}  // namespace

WarmUp warm_up(Backend& backend, const StepList& steps) {
  const std::int64_t begin = now_ns();
  std::vector<Kernel> seen;
  std::unique_ptr<Encoder> encoder;
  std::shared_ptr<Buffer> scratch;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind != StepKind::dispatch || std::ranges::count(seen, steps[s].kernel) != 0) {
      continue;
    }
    if (encoder == nullptr) {
      encoder = backend.encoder({.name = "warm-up"});
      scratch =
          backend.allocate("warm-up", kScratchBytes, BufferKind::device, MemoryPurpose::staging);
    } else {
      encoder->barrier();  // all of them have the same memory
    }
    seen.push_back(steps[s].kernel);
    StepList over_nothing = steps.only(s, {0, 0, 0});
    for (Binding& binding : over_nothing.bindings(over_nothing[0])) {
      binding.pool = 0;
      binding.offset = 0;
      binding.bytes = std::min(binding.bytes, kScratchBytes);
    }
    encoder->step(over_nothing, 0, {&scratch, 1});
  }
  if (encoder != nullptr) {
    const EncodingRef list[] = {encoder->finish()};
    backend.wait(backend.submit(list, AfterSubmit::will_wait));
  }
  return {static_cast<std::uint32_t>(seen.size()), static_cast<std::uint64_t>(now_ns() - begin)};
}

}  // namespace reprise
