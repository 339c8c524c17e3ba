#include "tests/testing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "backends/vulkan/backend.h"
#include "framework/core/float16.h"
#include "reprise/backend/decode.h"
#include "reprise/backend/host_call.h"
#include "tests/reference_backend.h"
#include "tests/validation_bugs.h"

namespace reprise::testing {
namespace {

struct Messages {
  std::mutex mutex;
  std::vector<std::string> texts;
};

Messages& messages() {
  static Messages all;
  return all;
}

using DeviceKey = std::tuple<std::string, LoweredLimits, std::optional<KernelFamily>, bool>;
using Devices = std::map<DeviceKey, Device>;

Devices& devices() {
  static Devices all;
  return all;
}

/// Closes devices while main() runs: afterwards the validation layer has destroyed its tables.
class CloseDevices : public ::testing::Environment {
 public:
  void TearDown() override { devices().clear(); }
};
const auto* const kCloseDevices = ::testing::AddGlobalTestEnvironment(new CloseDevices);

class WaitIdleAfterTests : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& /*test*/) override {
    for (const auto& [key, device] : devices()) {
      wait_idle(device);
    }
  }
};
const bool kWaitIdleAfterTests =
    (::testing::UnitTest::GetInstance()->listeners().Append(new WaitIdleAfterTests), true);

Device opened_once(const DeviceKey& key) {
  const auto known = devices().find(key);
  if (known != devices().end()) {
    return known->second;
  }
  const auto& [name, limits, kernels, replays] = key;
  OpenOptions options = test_options(name);
  options.limits = limits;
  options.kernels = kernels;
  options.replays = replays;
  return devices().emplace(key, open_device(name, options)).first->second;
}

}  // namespace

OpenOptions test_options(const std::string& name) {
  static const bool kRegistered = (register_reference_backend(), true);
  static_cast<void>(kRegistered);
  // Hazards between submissions are checked only when the layer is told so outside of Vulkan.
  setenv("VK_LAYER_ENABLES", "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT", 0);
  OpenOptions options;
  options.validation = name == "vulkan";
  options.map_device_memory = std::getenv("REPRISE_TEST_COPIED_MEMORY") == nullptr;
  options.log = [](LogLevel level, std::string_view text) {
    if (level >= LogLevel::warning && !is_bug_of_validation(text)) {
      const std::lock_guard lock(messages().mutex);
      messages().texts.emplace_back(text);
    }
  };
  return options;
}

std::string device_param_name(const ::testing::TestParamInfo<std::string>& parameter) {
  return parameter.param;
}

Device test_device(const std::string& name, const LoweredLimits& limits,
                   std::optional<KernelFamily> kernels) {
  return opened_once({name, limits, kernels, true});
}

Device fresh_test_device(const std::string& name) { return open_device(name, test_options(name)); }

Device test_device_without_replay(const std::string& name) {
  return opened_once({name, {}, std::nullopt, false});
}

void wait_idle(const Device& device) {
  const auto* const backend = dynamic_cast<const vulkan::VulkanBackend*>(&device.backend());
  if (backend != nullptr) {
    static_cast<void>(vkDeviceWaitIdle(backend->device().get()));  // lost devices are idle, too
  }
}

ExpectNoValidationMessages::ExpectNoValidationMessages() {
  const std::lock_guard lock(messages().mutex);
  before_ = messages().texts.size();
}

ExpectNoValidationMessages::~ExpectNoValidationMessages() {
  const std::lock_guard lock(messages().mutex);
  for (std::size_t i = before_; i < messages().texts.size(); ++i) {
    ADD_FAILURE() << messages().texts[i];
  }
}

double nmse(const std::vector<double>& expected, const std::vector<double>& actual) {
  if (expected.size() != actual.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double error = 0, power = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i], a = actual[i];
    if (!std::isfinite(e) || !std::isfinite(a)) {
      if (!(e == a || (std::isnan(e) && std::isnan(a)))) {
        return std::numeric_limits<double>::infinity();
      }
      continue;
    }
    error += (e - a) * (e - a);
    power += e * e;
  }
  return error == 0 ? 0 : error / power;
}

std::vector<double> to_doubles(DType dtype, const std::vector<std::byte>& bytes) {
  const auto elements = static_cast<std::int64_t>(bytes.size() / info_of(dtype).block_bytes);
  if (info_of(dtype).block_elements > 1) {
    std::vector<float> values(static_cast<std::size_t>(elements) * info_of(dtype).block_elements);
    decoder_of(dtype)(bytes.data(), values.size(), values.data());
    return {values.begin(), values.end()};
  }
  const TensorSpec spec({elements}, dtype);
  const HostTensor tensor{const_cast<std::byte*>(bytes.data()), &spec};
  std::vector<double> values;
  for (std::int64_t i = 0; i < elements; ++i) {
    values.push_back(dtype == DType::i64 ? static_cast<double>(tensor.load_integer(i))
                                         : tensor.load(i));
  }
  return values;
}

namespace {

/// Where the halves of a block are that scale its values, and what they are multiplied with at
/// most.
struct BlockScales {
  DType type;
  std::size_t scale_at;
  double most_units;
  std::optional<std::size_t> minimum_at = {};
  double most_minimum_units = 1;
};
constexpr BlockScales kBlockScales[] = {
    {DType::q8_0, 0, 128},
    {DType::q4_0, 0, 8},
    {DType::q4_1, 0, 15, 2},
    {DType::q5_0, 0, 16},
    {DType::q5_1, 0, 31, 2},
    {DType::iq4_nl, 0, 127},
    {DType::q2_k, 80, 15 * 3, 82, 15},
    {DType::q3_k, 108, 32 * 4},
    {DType::q4_k, 0, 63 * 15, 2, 63},
    {DType::q5_k, 0, 63 * 31, 2, 63},
    {DType::q6_k, 208, 128 * 32},
    {DType::iq4_xs, 0, 32 * 127},
};

/// That of the standard library takes a logarithm for each: a tenth of the time of the op tests.
double uniform(std::mt19937_64& rng, double low, double high) {
  return low + (high - low) * (static_cast<double>(rng() >> 11U) * 0x1p-53);
}

/// Random blocks of values of magnitudes up to `reach`.
void fill_blocks(std::mt19937_64& rng, DType dtype, double reach, std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = rng();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
  const BlockScales& scales = *std::ranges::find(kBlockScales, dtype, &BlockScales::type);
  const double share = scales.minimum_at ? reach / 2 : reach;
  const auto store = [&](std::size_t at, double units) {
    const double value = uniform(rng, -share / units, share / units);
    const std::uint16_t half = f32_to_f16(static_cast<float>(value));
    std::memcpy(bytes.data() + at, &half, sizeof half);
  };
  for (std::size_t at = 0; at < bytes.size(); at += info_of(dtype).block_bytes) {
    store(at + scales.scale_at, scales.most_units);
    if (scales.minimum_at) {
      store(at + *scales.minimum_at, scales.most_minimum_units);
    }
  }
}

}  // namespace

std::vector<std::byte> random_bytes(std::mt19937_64& rng, DType dtype, std::int64_t elements,
                                    double low, double high) {
  const TensorSpec spec({elements}, dtype);
  std::vector<std::byte> bytes(spec.bytes());
  const HostTensor tensor{bytes.data(), &spec};
  if (info_of(dtype).block_elements > 1) {
    fill_blocks(rng, dtype, (high - low) / 2, bytes);
    return bytes;
  }
  for (std::int64_t i = 0; i < elements; ++i) {
    if (dtype == DType::bf16) {  // no op writes it, so HostTensor does not
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(uniform(rng, low, high)));
      const auto upper = static_cast<std::uint16_t>(bits >> 16U);
      std::memcpy(bytes.data() + 2 * i, &upper, sizeof upper);
    } else {
      tensor.store(i, uniform(rng, low, high));
    }
  }
  return bytes;
}

std::vector<std::size_t> scales_in_block(DType dtype) {
  const BlockScales& scales = *std::ranges::find(kBlockScales, dtype, &BlockScales::type);
  std::vector<std::size_t> places{scales.scale_at};
  if (scales.minimum_at) {
    places.push_back(*scales.minimum_at);
  }
  return places;
}

}  // namespace reprise::testing
