// What tests share: devices opened with validation, seeds, comparisons.
#pragma once
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reprise/reprise.h"
#include "tests/expect_error.h"
#include "tests/seed.h"

namespace reprise::testing {

using test::seed_note;
using test::test_seed;

using Bytes = std::vector<std::byte>;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// For tests instantiated with device names.
std::string device_param_name(const ::testing::TestParamInfo<std::string>& parameter);

/// "cpu", "vulkan", or "reference": reference_backend.h. Opened once per process, Vulkan with the
/// validation layer and synchronization validation. Lower limits or a family of kernels make it
/// another device; unsupported if it cannot run them. With REPRISE_TEST_COPIED_MEMORY in the
/// environment no device maps its memory.
Device test_device(const std::string& name, const LoweredLimits& limits = {},
                   std::optional<KernelFamily> kernels = std::nullopt);

/// How test_device() opens one: the validation layer, and messages that ExpectNoValidationMessages
/// hears of. For tests that open devices with other options besides.
OpenOptions test_options(const std::string& name);

/// The same, opened anew, for tests that shut it down or count what it does.
Device fresh_test_device(const std::string& name);

/// "cpu" or "vulkan", but every launch encodes its steps again.
Device test_device_without_replay(const std::string& name);

/// Waits until a Vulkan device is idle, in the only way that synchronization validation knows to be
/// one: it keeps all accesses since then, and looks through them for every further submission.
/// Every test ends with it; those of many submissions call it in between.
void wait_idle(const Device& device);

/// Fails the current test if the validation layer has spoken since this was made.
class ExpectNoValidationMessages {
 public:
  ExpectNoValidationMessages();
  ExpectNoValidationMessages(const ExpectNoValidationMessages&) = delete;
  ExpectNoValidationMessages& operator=(const ExpectNoValidationMessages&) = delete;
  ~ExpectNoValidationMessages();

 private:
  std::size_t before_;
};

/// sum((expected - actual)^2) / sum(expected^2) over finite elements; infinity if non-finite
/// elements differ.
double nmse(const std::vector<double>& expected, const std::vector<double>& actual);

/// The elements of a tensor's bytes as doubles.
std::vector<double> to_doubles(DType dtype, const std::vector<std::byte>& bytes);

/// Uniform random values as the bytes of a dtype; of block formats, random blocks of values around
/// 0, at most (high - low) / 2 away.
std::vector<std::byte> random_bytes(std::mt19937_64& rng, DType dtype, std::int64_t elements,
                                    double low, double high);

/// Where the halves of a block begin that scale its values, in bytes.
std::vector<std::size_t> scales_in_block(DType dtype);

}  // namespace reprise::testing
