#include "tests/ops/poisoned_arena.h"

#include "framework/session/replay/capture_pool_memory.h"
#include "reprise/graph/execution_plan.h"

namespace reprise::testing {
namespace {

constexpr std::byte kPoison{0xFF};  // NaN as f32, f16 and bf16, -1 as integers

}  // namespace

PoisonedArena::PoisonedArena(const Device& device, const CapturePool& pool,
                             const CapturedGraph& graph)
    : device_(device) {
  const ExecutionPlan& plan = graph.plan();
  if (plan.arena_bytes == 0) {
    return;
  }
  arena_ = pool.memory().admit(device, "poisoned", plan.arena_bytes, {});
  for (std::size_t s = 0; s < plan.places.size(); ++s) {
    const Place& place = plan.places[s];
    if (place.pool == ExecutionPlan::kArena) {
      used_.push_back({place.offset, plan.graph->storages[s].bytes});
    }
  }
}

void PoisonedArena::poison() const {
  if (arena_ != nullptr) {
    device_.write(arena_, 0, std::vector<std::byte>(arena_->bytes(), kPoison));
  }
}

void PoisonedArena::expect_nothing_beside_tensors() const {
  if (arena_ == nullptr) {
    return;
  }
  std::vector<std::byte> bytes(arena_->bytes());
  device_.read(arena_, 0, bytes);
  for (const auto& [offset, size] : used_) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), size, kPoison);
  }
  const std::vector<std::byte> untouched(bytes.size(), kPoison);
  EXPECT_TRUE(bytes == untouched) << "byte "
                                  << std::ranges::mismatch(bytes, untouched).in1 - bytes.begin()
                                  << " of the arena was written";
}

}  // namespace reprise::testing
