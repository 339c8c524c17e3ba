// What encodings hand on to later ones: host memory of commands, command pools, descriptor sets.
#include <algorithm>
#include <cstring>
#include <list>
#include <random>

#include "backends/vulkan/command_memory.h"
#include "tests/testing.h"
#include "tests/vulkan/norm_run.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::vulkan {
namespace {

/// Takes, moves and frees memory as a driver does, and fills it to notice overlaps.
class Customer {
 public:
  Customer(CommandMemory& memory, std::uint64_t seed) : calls_(*memory.callbacks()), rng_(seed) {}

  void take() {
    const std::size_t bytes = number(1, 3000);
    const std::size_t alignment = std::size_t{1} << number(0, 6);
    void* memory = calls_.pfnAllocation(calls_.pUserData, bytes, alignment, kScope);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
    keep(memory, bytes, alignment);
  }
  void move() {
    Piece piece = remove();
    const std::size_t bytes = number(1, 3000);
    void* memory =
        calls_.pfnReallocation(calls_.pUserData, piece.memory, bytes, piece.alignment, kScope);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(holds(memory, std::min(bytes, piece.bytes), piece.fill)) << "contents are lost";
    keep(memory, bytes, piece.alignment);
  }
  void free() {
    const Piece piece = remove();
    EXPECT_TRUE(holds(piece.memory, piece.bytes, piece.fill)) << "another piece overlaps";
    calls_.pfnFree(calls_.pUserData, piece.memory);
  }
  bool empty() const { return pieces_.empty(); }
  std::size_t number(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(rng_);
  }

 private:
  static constexpr VkSystemAllocationScope kScope = VK_SYSTEM_ALLOCATION_SCOPE_OBJECT;
  struct Piece {
    void* memory;
    std::size_t bytes, alignment;
    unsigned char fill;
  };
  static bool holds(const void* memory, std::size_t bytes, unsigned char fill) {
    const auto* begin = static_cast<const unsigned char*>(memory);
    return std::all_of(begin, begin + bytes, [&](unsigned char c) { return c == fill; });
  }
  void keep(void* memory, std::size_t bytes, std::size_t alignment) {
    const auto fill = static_cast<unsigned char>(number(0, 255));
    std::memset(memory, fill, bytes);
    pieces_.push_back({memory, bytes, alignment, fill});
  }
  Piece remove() {
    std::swap(pieces_[number(0, pieces_.size() - 1)], pieces_.back());
    const Piece piece = pieces_.back();
    pieces_.pop_back();
    return piece;
  }

  VkAllocationCallbacks calls_;
  std::mt19937_64 rng_;
  std::vector<Piece> pieces_;
};

TEST(CommandMemory, KeepsPiecesApartAlignedAndIntact) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  CommandMemory memory;
  Customer customer(memory, seed);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const std::size_t choice = customer.number(0, 9);
    if (customer.empty() || choice < 5) {
      customer.take();
    } else if (choice < 6) {
      customer.move();
    } else {
      customer.free();
    }
  }
  while (!customer.empty()) {
    customer.free();
  }
}

TEST(CommandMemory, IsUsedAgainOnceEverythingWasFreed) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  CommandMemory memory;
  const VkAllocationCallbacks& calls = *memory.callbacks();
  std::size_t after_first = 0;
  for (int round = 0; round < 50; ++round) {
    std::mt19937_64 rng(seed);  // the same sizes each round
    std::vector<void*> taken;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t bytes = std::uniform_int_distribution<std::size_t>(1, 1000)(rng);
      taken.push_back(
          calls.pfnAllocation(calls.pUserData, bytes, 8, VK_SYSTEM_ALLOCATION_SCOPE_COMMAND));
    }
    for (void* piece : taken) {
      calls.pfnFree(calls.pUserData, piece);
    }
    after_first = round == 0 ? memory.bytes() : after_first;
  }
  EXPECT_EQ(memory.bytes(), after_first);
}

using Recycling = VulkanTest;

TEST_F(Recycling, AnEncodingKeepsItsCommandsAndSetsWhileOthersComeAndGo) {
  NormRun run(device(), testing::test_seed());
  const EncodingRef kept = run.whole(true);
  run.run(kept);
  for (int i = 0; i < 20; ++i) {
    // Of another length, so that what it leaves behind does not fit the next one by luck.
    const auto encoder = device().encoder({.name = "other"});
    for (int n = 0; n <= i; ++n) {
      run.norm(*encoder, NormRun::y, NormRun::z);
      encoder->barrier();
    }
    const EncodingRef other = encoder->finish();
    if (i % 2 == 0) {
      run.run(other);  // the others die without having run
    }
    std::memset(run.pools[NormRun::to_host]->mapped(), 0xFF, NormRun::kBytes);
    run.run(kept);
    ASSERT_LE(run.error(2), 1e-5) << "after " << i << " other encodings";
  }
}

}  // namespace
}  // namespace reprise::vulkan
