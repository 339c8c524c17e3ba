// Every Vulkan call that can fail does fail where a program makes it: once for want of host memory,
// from there on for want of device memory, and as its kind may besides. Each time the program gets
// an error that names the call, or does not notice, and can go on; validation has nothing to say,
// and nothing is left behind. Of the places where a program makes a call one is drawn for each way
// to fail; the tests whose suites begin with Long take every place.
#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "tests/testing.h"
#include "tests/vulkan/fault_run.h"

namespace reprise::fault {
namespace {

struct Listed {
  std::string_view call;
  std::string_view text;
};

// Work goes on without what these give, and why.
constexpr Listed kTolerated[] = {
    {"vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", "clocks are compared by a submission then"},
    {"vkResetCommandPool", "a pool that cannot be used again is destroyed"},
    {"vkSetDebugUtilsObjectNameEXT", "names only make messages readable"},
};

// Calls that the loader makes itself inside of another, which then fails.
constexpr Listed kMadeInside[] = {{"vkEnumerateDeviceExtensionProperties", "vkCreateDevice"}};

// Calls this program need not make, and why.
constexpr std::string_view kUnused = "the backend does not use it";
constexpr Listed kNotMade[] = {
    {"vkDeviceWaitIdle", "the way out where a wait fails in a destructor"},
    {"vkGetCalibratedTimestampsEXT", "only profiles compare clocks"},
    {"vkGetMemoryHostPointerPropertiesEXT", "only imports ask, and fall back to copies"},
    {"vkGetPipelineCacheData", kUnused},
    {"vkGetQueryPoolResults", kUnused},
    {"vkResetDescriptorPool", kUnused},
    {"vkSignalSemaphore", "only joined host steps do; without it the device waits for ever"},
};

const Listed* find(std::span<const Listed> list, std::string_view call) {
  const auto found = std::ranges::find(list, call, &Listed::call);
  return found == list.end() ? nullptr : &*found;
}

struct Failure {
  VkResult result;
  bool later;  // from the k-th call on
  ErrorCode code;
  std::string_view text;  // in the message
};

std::span<const Failure> failures_of(Kind kind) {
  static constexpr Failure kAll[] = {
      {VK_ERROR_OUT_OF_HOST_MEMORY, false, ErrorCode::out_of_memory, "VK_ERROR_OUT_OF_HOST_MEMORY"},
      {VK_ERROR_OUT_OF_DEVICE_MEMORY, true, ErrorCode::out_of_memory,
       "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {VK_ERROR_DEVICE_LOST, true, ErrorCode::device_lost, "VK_ERROR_DEVICE_LOST"},
      {VK_TIMEOUT, false, ErrorCode::timeout, "VK_TIMEOUT"},
      {VK_TIMEOUT, true, ErrorCode::timeout, "without progress for 2000 ms"},
  };
  const std::size_t counts[] = {2, 3, 5};  // of creation, work, wait
  return std::span(kAll).first(counts[static_cast<std::size_t>(kind)]);
}

bool mentions(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

/// Empty if nothing was thrown.
std::optional<Error> caught(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

void expect_works(const Device& device) {
  const auto error = caught([&] { EXPECT_TRUE(run_hello(device)) << "a wrong result"; });
  EXPECT_FALSE(error) << error->what();
}

enum class Places { one_of_each, all };

/// More than a machine in use keeps a program from what it waits for.
constexpr std::chrono::milliseconds kHangTimeout{2000};

class FaultSweep : public ::testing::Test {
 protected:
  explicit FaultSweep(bool map_memory) : map_memory_(map_memory) {}
  void SetUp() override {
    inject({});
    expect_works(open());
    std::ranges::transform(kEntryPoints, counts_.begin(), calls, &EntryPoint::name);
  }
  void sweep(Places places);

 private:
  void fail(const EntryPoint& call, std::uint64_t count, const Failure& failure, Places places);

  void run(const EntryPoint& call, const Failure& failure, std::uint64_t k);
  void expect_named(const EntryPoint& call, const Failure& failure, const Error& error);
  void judge(const EntryPoint& call, const Failure& failure, const std::optional<Error>& error);
  void expect_goes_on(const Device& device, const EntryPoint& call, const Failure& failure,
                      bool lost);

  Device open(std::chrono::milliseconds hang_timeout = {}) {
    return open_logged(log_, hang_timeout, map_memory_);
  }

  const bool map_memory_;
  const std::uint64_t seed_ = testing::test_seed();
  std::mt19937_64 rng_{seed_};
  Log log_;
  // Keeps the drivers in memory, and sees nothing of what happens to other devices.
  const Device bystander_ = open();
  const std::size_t live_ = live_objects();
  std::array<std::uint64_t, kEntryPointCount> counts_{};
  std::uint64_t errors_ = 0, tolerated_ = 0;
  std::uint64_t missed_ = 0;  // the call was made fewer times than in SetUp
};

void FaultSweep::expect_named(const EntryPoint& call, const Failure& failure, const Error& error) {
  EXPECT_EQ(error.code(), failure.code) << error.what();
  EXPECT_TRUE(mentions(error, failure.text)) << error.what();
  const Listed* inside = find(kMadeInside, call.name);
  EXPECT_TRUE(failure.result == VK_TIMEOUT || mentions(error, call.name) ||
              (inside != nullptr && mentions(error, inside->text)))
      << error.what();
}

void FaultSweep::judge(const EntryPoint& call, const Failure& failure,
                       const std::optional<Error>& error) {
  // A wait that ends early once is repeated.
  const bool harmless = hits() == 0 || find(kTolerated, call.name) != nullptr ||
                        (failure.result == VK_TIMEOUT && !failure.later);
  EXPECT_EQ(error.has_value(), !harmless) << (error ? error->what() : "no error");
  if (error) {
    expect_named(call, failure, *error);
  }
}

void FaultSweep::expect_goes_on(const Device& device, const EntryPoint& call,
                                const Failure& failure, bool lost) {
  if (lost) {
    const auto error = caught([&] { static_cast<void>(run_hello(device)); });
    ASSERT_TRUE(error) << "a lost device works";
    expect_named(call, failure, *error);
  } else if (!failure.later) {
    expect_works(device);
  } else if (failure.result == VK_TIMEOUT) {
    inject({});  // it hangs no longer
    expect_works(device);
  }
}

void FaultSweep::run(const EntryPoint& call, const Failure& failure, std::uint64_t k) {
  SCOPED_TRACE(std::string(call.name) + ", call " + std::to_string(k) +
               (failure.later ? " and later: " : ": ") + std::string(failure.text));
  inject({call.name, k, failure.later, failure.result});
  const bool hangs = failure.result == VK_TIMEOUT && failure.later;
  std::optional<Error> error;
  {
    std::optional<Device> device;
    error = caught([&] {
      device = open(hangs ? kHangTimeout : std::chrono::milliseconds(0));
      EXPECT_TRUE(run_hello(*device)) << "a wrong result";
    });
    judge(call, failure, error);
    if (hits() == 0) {
      inject({});  // or what follows would make the call in its place
    }
    if (device) {
      expect_goes_on(*device, call, failure, error && error->code() == ErrorCode::device_lost);
    }
  }
  EXPECT_EQ(live_objects(), live_);
  ++(error ? errors_ : hits() > 0 ? tolerated_ : missed_);
  inject({});
  expect_works(open());
  EXPECT_EQ(live_objects(), live_);
}

void FaultSweep::fail(const EntryPoint& call, std::uint64_t count, const Failure& failure,
                      Places places) {
  const std::uint64_t only = std::uniform_int_distribution<std::uint64_t>(1, count)(rng_);
  for (std::uint64_t k = 1; k <= count && !HasFatalFailure(); ++k) {
    if (places == Places::all || k == only) {
      run(call, failure, k);
      ASSERT_EQ(log_.validation(), "") << call.name << ", call " << k << ": " << failure.text;
    }
  }
}

void FaultSweep::sweep(Places places) {
  SCOPED_TRACE(testing::seed_note(seed_));
  std::size_t calls = 0;
  // Flushed line by line: what a crash would hide.
  for (std::size_t c = 0; c < kEntryPointCount; ++c) {
    const EntryPoint& call = kEntryPoints[c];
    // Only kernels by lanes read texel buffers.
    const bool unused = call.name == "vkCreateBufferView" &&
                        bystander_.capabilities().kernels != KernelFamily::lanes;
    EXPECT_TRUE(counts_[c] > 0 || unused || find(kNotMade, call.name) != nullptr)
        << call.name << " is never made";
    calls += counts_[c] > 0 ? 1U : 0U;
    std::cout << call.name << ": " << counts_[c] << std::endl;
    if (counts_[c] > 0) {
      for (const Failure& failure : failures_of(call.kind)) {
        fail(call, counts_[c], failure, places);
      }
    }
  }
  std::cout << "fault sweep: " << errors_ + tolerated_ + missed_ << " runs over " << calls
            << " calls, " << errors_ << " errors, " << tolerated_ << " tolerated, " << missed_
            << " not reached\n";
}

struct FaultSweepOfMappedMemory : FaultSweep {
  FaultSweepOfMappedMemory() : FaultSweep(true) {}
};
TEST_F(FaultSweepOfMappedMemory, EveryFailureIsAnErrorOrHarmless) { sweep(Places::one_of_each); }
using LongFaultSweepOfMappedMemory = FaultSweepOfMappedMemory;
TEST_F(LongFaultSweepOfMappedMemory, EveryFailureIsAnErrorOrHarmless) { sweep(Places::all); }

struct FaultSweepOfCopiedMemory : FaultSweep {
  FaultSweepOfCopiedMemory() : FaultSweep(false) {}
};
TEST_F(FaultSweepOfCopiedMemory, EveryFailureIsAnErrorOrHarmless) { sweep(Places::one_of_each); }
using LongFaultSweepOfCopiedMemory = FaultSweepOfCopiedMemory;
TEST_F(LongFaultSweepOfCopiedMemory, EveryFailureIsAnErrorOrHarmless) { sweep(Places::all); }

}  // namespace
}  // namespace reprise::fault
