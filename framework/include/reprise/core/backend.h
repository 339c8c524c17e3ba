// What a backend implements: memory, and the encoding and running of steps. It knows no ops.
// Sessions build every submission from encodings, so replay on any backend is the same code.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reprise/core/buffer_uses.h"
#include "reprise/core/capabilities.h"
#include "reprise/core/device_life.h"
#include "reprise/core/driver_messages.h"
#include "reprise/core/run_time_shader.h"
#include "reprise/core/step.h"

namespace reprise {

/// A device for reports and the profiling database. Numbers a driver does not have are empty.
struct DeviceInfo {
  std::string backend;  // "vulkan", "cpu", or what its factory says
  std::string backend_version;
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
  std::optional<std::uint64_t> shared_bytes{};  // of a workgroup; empty if it is not known
  std::string_view source{};                    // GLSL of run-time shaders
};

/// Device-clock readings that encodings take and copy to the host. Submissions of one queue run one
/// after another, so one set serves any number of them. Encodings keep what they use.
class Timestamps {
 public:
  explicit Timestamps(std::uint32_t count) : count_(count) {}
  virtual ~Timestamps() = default;
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
};

/// Encoded commands, ready to be submitted any number of times.
class Encoding {
 public:
  virtual ~Encoding() = default;
  /// Every buffer its commands use; the encoding keeps them alive.
  const BufferUses& uses() const { return uses_; }
  /// For queues: throws stale if a buffer is freed. `free_count`: see Backend.
  void require_alive(std::uint64_t free_count) const {
    if (alive_at_.load(std::memory_order_relaxed) != free_count) {
      uses_.require_alive();
      alive_at_.store(free_count, std::memory_order_relaxed);
    }
  }

 protected:
  BufferUses uses_;

 private:
  mutable std::atomic<std::uint64_t> alive_at_{~std::uint64_t{0}};
};
using EncodingRef = std::shared_ptr<const Encoding>;

/// A count that only the host raises, by Backend::raise(). For encodings that wait for the host.
class HostSignal {
 public:
  virtual ~HostSignal() = default;
};

struct EncoderOptions {
  std::string_view name{};
  bool reusable = false;      // submitted more than once, possibly several times in one submission
  bool ends_at_host = false;  // the host may read what this and earlier encodings wrote
  /// Every submission of the encoding begins once the host raised the count one time more than for
  /// the one before, and sees what the host wrote until then. The first of its submission.
  std::shared_ptr<HostSignal> after{};
};

/// Encodes steps in order, on one thread. Starts after everything submitted before that may touch
/// the same memory: an encoding needs no barrier before its first step.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Everything before is complete and visible to everything after.
  virtual void barrier() = 0;
  /// `pools[i]` is the memory of Binding::pool i.
  virtual void step(const StepList& steps, std::size_t index,
                    std::span<const std::shared_ptr<Buffer>> pools) = 0;
  /// Makes all timestamps takeable again; before the first stamp() of a submission.
  virtual void reset(const std::shared_ptr<Timestamps>& stamps) = 0;
  /// Takes one when everything before is complete.
  virtual void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) = 0;
  /// Copies the first `count`, 8 bytes of ticks each, to a download buffer. They must have been
  /// taken.
  virtual void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
                       const std::shared_ptr<Buffer>& to, std::uint64_t offset) = 0;
  virtual void begin_label(std::string_view name) = 0;
  virtual void end_label() = 0;
  virtual std::unique_ptr<Encoding> finish() = 0;
};

/// What the caller of submit() does next: a device that shares the host's processor runs the work
/// on the waiting thread instead of waking another.
enum class AfterSubmit : std::uint8_t { will_wait, will_continue };

/// One moment on the host's and the device's clock.
struct ClockSample {
  std::int64_t host_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t device_ticks = 0;
  std::uint64_t max_deviation_ns = 0;
};

/// Of the kernels a device compiles; 0 where ops run as host functions.
struct KernelCounters {
  std::uint64_t created = 0;
  std::uint64_t reused = 0;  // asked for again, by encodings
  std::uint64_t create_ns = 0;
};

/// One opened device. All members may be called concurrently; they refuse other devices' buffers.
/// Once it is shut down or lost, what makes new work throws shut_down or device_lost.
class Backend {
 public:
  Backend(std::shared_ptr<DeviceLife> life, std::shared_ptr<MemoryAccount> memory)
      : life_(std::move(life)), memory_(std::move(memory)) {}
  virtual ~Backend() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual const DeviceTraits& traits() const = 0;
  virtual const BackendCapabilities& capabilities() const = 0;
  DeviceLife& life() const { return *life_; }
  const std::shared_ptr<DeviceLife>& shared_life() const { return life_; }
  MemoryAccount& memory() const { return *memory_; }
  /// Null where the driver says nothing while the program runs, as without validation.
  virtual std::shared_ptr<DriverMessages> driver_messages() const { return nullptr; }
  /// What memory() says, and the driver.
  virtual MemoryInfo memory_info() const { return memory_->info(); }

  /// Throws invalid_argument (0 bytes), out_of_memory with requested and available bytes: above the
  /// device's limits, its heaps and the budget before the driver is asked.
  virtual std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                           MemoryPurpose purpose = MemoryPurpose::tensors) = 0;
  /// Memory of the host used in place, for reading only, kept alive by `owner` until the buffer is
  /// freed. `bytes` is not empty and starts at a page; the rest of its last page is mapped too.
  /// Null where the device cannot: the caller copies instead.
  virtual std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner) = 0;
  /// Gives the memory of a buffer back before its last owner goes: now, or when the submissions in
  /// flight that use it are complete, the encoders that use it finished and all pins gone. From now
  /// on encoding and submitting what uses it throws stale. Does nothing if it is freed already.
  /// Throws invalid_argument for a buffer of another device.
  virtual void free(const std::shared_ptr<Buffer>& buffer) = 0;
  /// How often free() took memory away: while it stays the same, nothing became stale. Takes no
  /// lock.
  virtual std::uint64_t free_count() const = 0;
  /// Gives back what was freed and put off and is not used any more. All members that submit, free,
  /// or find submissions complete do the same.
  virtual void release_freed() = 0;
  /// Allocations made so far; replay must not add to it.
  virtual std::uint64_t allocation_count() const = 0;

  virtual std::unique_ptr<Encoder> encoder(const EncoderOptions& options) = 0;
  /// Null if the device cannot time itself.
  virtual std::shared_ptr<Timestamps> timestamps(std::uint32_t count) = 0;
  /// Submissions wait for it in the order they were made. Whoever submits them raises it for each,
  /// whatever happens: what is submitted later waits behind it. While a submission that is next
  /// waits for the host, no wait() times out.
  virtual std::shared_ptr<HostSignal> host_signal() = 0;
  virtual void raise(const std::shared_ptr<HostSignal>& signal) = 0;
  /// Empty if the driver cannot read both clocks together.
  virtual std::optional<ClockSample> clock() = 0;
  /// Runs the encodings in order after everything submitted before, and keeps them until they are
  /// complete. Returns the value to wait for; values grow by one. Submissions complete in order.
  virtual std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) = 0;
  /// This submission and all before it. Never blocks. Throws device_lost.
  virtual bool complete(std::uint64_t submission) = 0;
  /// The last one that is known to be complete with all before it, without asking the device.
  virtual std::uint64_t completed() = 0;
  /// For this submission. Throws device_lost or timeout; never waits for ever, unless the work
  /// itself runs on the host.
  virtual void wait(std::uint64_t submission) = 0;
  /// The last submission so far; 0 before the first.
  virtual std::uint64_t last_submission() = 0;
  /// The last submission in flight that accesses the buffer in one of these ways; 0 if none does.
  virtual std::uint64_t last_use(const Buffer& buffer, Access access) = 0;
  /// Compiles a shader of the caller's, makes its pipeline, and lets steps name it until the last
  /// copy of what is returned goes; encodings keep what they use. Throws invalid_argument for what
  /// is no valid compute shader (of GLSL with the compiler's messages and their lines), unsupported
  /// for shaders that the device cannot run, and on devices that run none.
  virtual std::shared_ptr<const RunTimeShader> add_shader(const ShaderSource& source) {
    throw Error(ErrorCode::unsupported, "The kernel '" + source.name + "' is a shader, but the " +
                                            info().backend + " device (" + info().name +
                                            ") runs none; give it a function.");
  }
  /// Facts about a kernel some encoding used; empty on devices that run references.
  virtual std::optional<KernelInfo> kernel_info(const Kernel& kernel) const = 0;
  virtual KernelCounters kernel_counters() const = 0;
  /// How it runs a step whose pools are of this device. Encodes nothing; may compile the kernel.
  virtual Support support(const StepList& steps, std::size_t index) const = 0;

  /// Takes no submission from its beginning on and waits for those there are. Does nothing if
  /// called again. Throws device_lost or timeout.
  virtual void shutdown() = 0;
  /// Gives back what it keeps for later and does not use now.
  virtual void trim() = 0;

 private:
  std::shared_ptr<DeviceLife> life_;
  std::shared_ptr<MemoryAccount> memory_;
};

}  // namespace reprise
