// What a device's memory is counted as, and what is refused.
#include "reprise/backend/memory_account.h"

#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr auto kTensors = MemoryPurpose::tensors;

std::shared_ptr<MemoryAccount> account(std::vector<std::uint64_t> heaps, std::uint64_t budget = 0,
                                       PressureCallback on_pressure = {}) {
  std::vector<HeapInfo> infos;
  for (const std::uint64_t bytes : heaps) {
    infos.push_back({.bytes = bytes});
  }
  return std::make_shared<MemoryAccount>(std::move(infos), budget, std::move(on_pressure));
}

TEST(MemoryAccount, CountsByHeapAndPurposeUntilItIsGivenBack) {
  const auto memory = account({1000, 500});
  MemoryShare a = memory->reserve("a", kTensors, 0, 300);
  {
    const MemoryShare b = memory->reserve("b", MemoryPurpose::staging, 1, 100);
    const MemoryInfo info = memory->info();
    EXPECT_EQ(info.total, (MemoryUse{400, 400, 2}));
    EXPECT_EQ(info.of(kTensors), (MemoryUse{300, 300, 1}));
    EXPECT_EQ(info.of(MemoryPurpose::staging), (MemoryUse{100, 100, 1}));
    EXPECT_EQ(info.heaps[0].used, (MemoryUse{300, 300, 1}));
    EXPECT_EQ(info.heaps[1].used, (MemoryUse{100, 100, 1}));
  }
  MemoryShare moved = std::move(a);
  EXPECT_EQ(memory->info().total, (MemoryUse{300, 400, 1}));
  moved.give_back();
  moved.give_back();
  EXPECT_EQ(memory->info().total, (MemoryUse{0, 400, 0}));
  EXPECT_EQ(memory->info().of(kTensors), (MemoryUse{0, 300, 0}));
}

TEST(MemoryAccount, StaysAsLongAsOneOfItsShares) {
  MemoryShare share;
  std::weak_ptr<MemoryAccount> weak;
  {
    const auto memory = account({10});
    share = memory->reserve("a", kTensors, 0, 10);
    weak = memory;
  }
  ASSERT_FALSE(weak.expired());
  EXPECT_EQ(weak.lock()->info().total, (MemoryUse{10, 10, 1}));
  share.give_back();
  EXPECT_TRUE(weak.expired());
}

TEST(MemoryAccount, ImportedMemoryIsInNoHeapAndUnderNoBudget) {
  const auto memory = account({100}, 50);
  const MemoryShare share =
      memory->reserve("file", MemoryPurpose::imported, MemoryAccount::kNoHeap, 1'000'000);
  EXPECT_EQ(memory->info().of(MemoryPurpose::imported), (MemoryUse{1'000'000, 1'000'000, 1}));
  EXPECT_EQ(memory->info().total, MemoryUse());
  EXPECT_EQ(memory->info().pressure, MemoryPressure::none);
}

TEST(MemoryAccount, RefusesWhatDoesNotFitWithWhatIsLeft) {
  const auto memory = account({100, 50});
  const MemoryShare a = memory->reserve("a", kTensors, 0, 60);
  expect_error(ErrorCode::out_of_memory, {"'b'", "(41)", " 40 ", "heap"},
               [&] { (void)memory->reserve("b", kTensors, 0, 41); });
  expect_error(ErrorCode::out_of_memory, {"'c'", "(18446744073709551615)", " 50 "},
               [&] { (void)memory->reserve("c", kTensors, 1, ~std::uint64_t{0}); });
  EXPECT_EQ(memory->info().total, (MemoryUse{60, 60, 1}));
  const MemoryShare rest = memory->reserve("d", kTensors, 0, 40);
}

TEST(MemoryAccount, ABudgetIsForAllHeapsTogether) {
  const auto memory = account({100, 100}, 120);
  const MemoryShare a = memory->reserve("a", kTensors, 0, 80);
  expect_error(ErrorCode::out_of_memory, {"(41)", " 40 ", "budget"},
               [&] { (void)memory->reserve("b", kTensors, 1, 41); });
  expect_error(ErrorCode::out_of_memory, {"(41)", " 20 ", "heap"},
               [&] { (void)memory->reserve("b", kTensors, 0, 41); });
  memory->set_budget(60);
  EXPECT_EQ(memory->info().budget, 60U);
  expect_error(ErrorCode::out_of_memory, {"(1)", " 0 ", "budget"},
               [&] { (void)memory->reserve("b", kTensors, 1, 1); });
  memory->set_budget(0);
  const MemoryShare b = memory->reserve("b", kTensors, 1, 100);
}

struct Reports {
  std::vector<MemoryPressure> levels;
  std::vector<std::uint64_t> used;
  PressureCallback callback() {
    return [this](MemoryPressure level, const MemoryInfo& info) {
      EXPECT_EQ(info.pressure, level);
      levels.push_back(level);
      used.push_back(info.total.bytes);
    };
  }
};

TEST(MemoryAccount, PressureIsReportedOnceWhenItsLevelChanges) {
  Reports reports;
  const auto memory = account({100}, 0, reports.callback());
  std::vector<MemoryShare> shares;
  const auto take = [&](std::uint64_t bytes) {
    shares.push_back(memory->reserve("a", kTensors, 0, bytes));
  };
  for (const std::uint64_t bytes : {74U, 1U, 1U, 13U, 1U, 1U}) {
    take(bytes);
  }
  EXPECT_EQ(reports.used, (std::vector<std::uint64_t>{75, 90}));
  EXPECT_EQ(memory->info().pressure, MemoryPressure::high);
  shares.erase(shares.begin());
  EXPECT_EQ(memory->info().pressure, MemoryPressure::none);
  take(1);
  EXPECT_EQ(reports.levels,
            (std::vector{MemoryPressure::moderate, MemoryPressure::high, MemoryPressure::none}));
}

TEST(MemoryAccount, PressureIsThatOfTheBudgetIfItIsFuller) {
  Reports reports;
  const auto memory = account({1000}, 100, reports.callback());
  const MemoryShare a = memory->reserve("a", kTensors, 0, 80);
  EXPECT_EQ(reports.levels, std::vector{MemoryPressure::moderate});
}

TEST(MemoryAccount, WhatTheCallbackGivesBackIsThereForTheAllocation) {
  MemoryShare cache;
  std::uint32_t calls = 0;
  const auto memory = account({100}, 0, [&](MemoryPressure level, const MemoryInfo&) {
    if (level == MemoryPressure::critical) {
      ++calls;
      cache.give_back();
    }
  });
  cache = memory->reserve("cache", kTensors, 0, 70);
  const MemoryShare wanted = memory->reserve("wanted", kTensors, 0, 90);
  EXPECT_EQ(memory->info().total, (MemoryUse{90, 90, 1}));
  EXPECT_EQ(calls, 1U);
  expect_error(ErrorCode::out_of_memory, {"'more'", "(20)", " 10 "},
               [&] { (void)memory->reserve("more", kTensors, 0, 20); });
  EXPECT_EQ(calls, 2U);
}

TEST(MemoryAccount, ACallbackThatAllocatesIsNotCalledAgain) {
  std::shared_ptr<MemoryAccount> memory;
  std::uint32_t calls = 0;
  memory = account({100}, 0, [&](MemoryPressure, const MemoryInfo&) {
    ++calls;
    EXPECT_THROW((void)memory->reserve("more", kTensors, 0, 1000), Error);
  });
  EXPECT_THROW((void)memory->reserve("a", kTensors, 0, 1000), Error);
  EXPECT_EQ(calls, 1U);
}

TEST(MemoryAccount, ThreadsThatTakeAndGiveBackLeaveNothing) {
  std::atomic<std::uint32_t> reports{0};
  const auto memory = account({1000}, 900, [&](MemoryPressure, const MemoryInfo&) { ++reports; });
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const MemoryShare a = memory->reserve("a", kTensors, 0, 100 + t);
        const MemoryShare b = memory->reserve("b", MemoryPurpose::state, 0, 80);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const MemoryInfo info = memory->info();
  EXPECT_EQ(info.total.bytes, 0U);
  EXPECT_EQ(info.total.buffers, 0U);
  EXPECT_EQ(info.of(kTensors).buffers, 0U);
  EXPECT_LE(info.total.peak, 900U);
  EXPECT_GE(info.total.peak, 183U);
}

}  // namespace
}  // namespace reprise::testing
