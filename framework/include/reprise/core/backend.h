// What a backend implements: memory, and the encoding and running of steps. It knows no ops.
// Sessions build every submission from encodings, so replay on any backend is the same code.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reprise/core/step.h"

namespace reprise {

/// A device for reports and the profiling database. Numbers a driver does not have are empty.
struct DeviceInfo {
  std::string backend;  // "vulkan", "cpu"
  std::string name;
  std::string type;  // "discrete", "integrated", "virtual", "cpu"
  std::string driver_name, driver_info, api_version, device_uuid, driver_uuid;
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  double timestamp_period_ns = 1;
  std::uint32_t timestamp_valid_bits = 0;  // 0: the device cannot time itself
  std::vector<std::pair<std::string, std::uint64_t>> limits;
  std::vector<std::pair<std::string, bool>> features;
};

/// A compiled kernel as the database shows it.
struct KernelInfo {
  std::array<std::uint32_t, 3> local_size{};
  std::uint32_t push_bytes = 0;
  std::span<const std::uint32_t> spirv;
  std::uint64_t pipeline_create_ns = 0;
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };
/// May be called from any thread.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// Measures the device time between two encodings of one submission. Not thread-safe.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Of the last completed submission; empty if the device cannot time itself.
  virtual std::optional<std::uint64_t> elapsed_ns() = 0;
};

/// Encoded commands, ready to be submitted any number of times. Keep it, and every buffer its steps
/// use, until the submissions that use it are complete.
class Encoding {
 public:
  virtual ~Encoding() = default;
};

struct EncoderOptions {
  std::string_view name{};
  bool reusable = false;      // submitted more than once, possibly several times in one submission
  bool ends_at_host = false;  // what its copies write is read by the host
  Timer* start_timer = nullptr;  // taken after all steps of this encoding
  Timer* stop_timer = nullptr;   // taken before the first step of this encoding
};

/// Encodes steps in order, on one thread. Starts after everything submitted before: an encoding
/// needs no barrier before its first step.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Everything before is complete and visible to everything after.
  virtual void barrier() = 0;
  /// `pools[i]` is the memory of Binding::pool i; the buffers must outlive the encoding.
  virtual void step(const StepList& steps, std::size_t index,
                    std::span<const std::shared_ptr<Buffer>> pools) = 0;
  virtual void begin_label(std::string_view name) = 0;
  virtual void end_label() = 0;
  virtual std::unique_ptr<Encoding> finish() = 0;
};

/// One opened device. All members may be called concurrently.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual const DeviceTraits& traits() const = 0;

  /// Throws invalid_argument (0 bytes), out_of_memory with requested and available bytes.
  virtual std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes,
                                           BufferKind kind) = 0;
  /// Allocations made so far; replay must not add to it.
  virtual std::uint64_t allocation_count() const = 0;

  virtual std::unique_ptr<Encoder> encoder(const EncoderOptions& options) = 0;
  virtual std::unique_ptr<Timer> timer() = 0;
  /// Runs the encodings in order after everything submitted before. Returns the value to wait for.
  virtual std::uint64_t submit(std::span<const Encoding* const> encodings) = 0;
  /// Throws device_lost or timeout; never waits for ever.
  virtual void wait(std::uint64_t submission) = 0;
  /// Facts about a kernel some encoding used; empty on devices that run references.
  virtual std::optional<KernelInfo> kernel_info(const Kernel& kernel) const = 0;
};

}  // namespace reprise
