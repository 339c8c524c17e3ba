#include "framework/session/replay/warm_up.h"

#include <algorithm>
#include <set>
#include <vector>

#include "framework/session/executor/host_clock.h"

namespace reprise {

WarmUp warm_up(Backend& backend, const StepList& steps,
               std::span<const std::shared_ptr<Buffer>> pools) {
  const std::int64_t begin = now_ns();
  std::vector<Kernel> kernels;
  std::set<std::vector<std::uint64_t>> ran;  // a kernel by its place there, bytes of its bindings
  std::unique_ptr<Encoder> encoder;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind != StepKind::dispatch) {
      continue;
    }
    const auto known = std::ranges::find(kernels, steps[s].kernel);
    std::vector<std::uint64_t> use{static_cast<std::uint64_t>(known - kernels.begin())};
    if (known == kernels.end()) {
      kernels.push_back(steps[s].kernel);
    }
    for (const Binding& binding : steps.bindings(steps[s])) {
      use.push_back(binding.bytes);
    }
    if (!ran.insert(std::move(use)).second) {
      continue;
    }
    if (encoder == nullptr) {
      encoder = backend.encoder({.name = "warm-up"});
    }
    encoder->barrier();  // what a step may write, others bind too
    encoder->step(steps.only(s, {0, 0, 0}), 0, pools);
  }
  if (encoder != nullptr) {
    const EncodingRef list[] = {encoder->finish()};
    backend.wait(backend.submit(list, AfterSubmit::will_wait));
  }
  return {static_cast<std::uint32_t>(kernels.size()), static_cast<std::uint64_t>(now_ns() - begin)};
}

}  // namespace reprise
