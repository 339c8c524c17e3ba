// The interface of a backend: memory, and the encoding and running of steps. It knows no ops.
// Sessions build every submission from encodings, so replay on any backend is the same code.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reprise/backend/buffer_uses.h"
#include "reprise/backend/device_life.h"
#include "reprise/backend/driver_messages.h"
#include "reprise/backend/memory_account.h"
#include "reprise/backend/run_time_shader.h"
#include "reprise/backend/step.h"
#include "reprise/core/device_info.h"

namespace reprise {

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
/// after another, so one set serves any number of them.
/// Lifetime: encodings keep the sets they use.
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
  /// Returns every buffer its commands use.
  /// Lifetime: the encoding keeps them alive.
  const BufferUses& uses() const { return uses_; }
  /// Checks that no buffer is freed; for queues. `free_count`: see Backend.
  /// Errors: stale.
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
  /// A signal that every submission of the encoding waits for, until the host raised the count once
  /// more than for the previous one. It then sees everything that the host wrote until then. The
  /// encoding is the first of its submission.
  std::shared_ptr<HostSignal> after{};
};

/// Encodes steps in order. Starts after everything submitted before that may touch the same memory:
/// an encoding needs no barrier before its first step.
/// Threads: used by one thread.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Makes everything before complete and visible to everything after.
  virtual void barrier() = 0;
  /// Encodes a step. `pools[i]` is the memory of Binding::pool i.
  virtual void step(const StepList& steps, std::size_t index,
                    std::span<const std::shared_ptr<Buffer>> pools) = 0;
  /// Makes all timestamps takeable again; called before the first stamp() of a submission.
  virtual void reset(const std::shared_ptr<Timestamps>& stamps) = 0;
  /// Takes a timestamp when everything before is complete.
  virtual void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) = 0;
  /// Copies the first `count` timestamps to a download buffer. They must have been taken.
  /// Units: 8 bytes of ticks each.
  virtual void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
                       const std::shared_ptr<Buffer>& to, std::uint64_t offset) = 0;
  virtual void begin_label(std::string_view name) = 0;
  virtual void end_label() = 0;
  virtual std::unique_ptr<Encoding> finish() = 0;
};

/// The next action of the caller of submit(). A device that shares the host's processor runs the
/// work on the waiting thread instead of waking another.
enum class AfterSubmit : std::uint8_t { will_wait, will_continue };

/// One moment on the clocks of the host and the device.
struct ClockSample {
  std::int64_t host_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t device_ticks = 0;
  std::uint64_t max_deviation_ns = 0;
};

/// One opened device.
/// Errors: shut_down or device_lost from members that make new work, once it is shut down or lost;
/// buffers of other devices are refused.
/// Threads: all members may be called concurrently.
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
  /// Returns messages of the driver; null where it gives none while the program runs, as without
  /// validation.
  virtual std::shared_ptr<DriverMessages> driver_messages() const { return nullptr; }
  /// Returns the information of memory() and of the driver.
  virtual MemoryInfo memory_info() const { return memory_->info(); }

  /// Allocates a buffer. Checks limits of the device, its heaps and the budget before it asks the
  /// driver.
  /// Errors: invalid_argument for 0 bytes; out_of_memory with requested and available bytes.
  virtual std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                           MemoryPurpose purpose = MemoryPurpose::tensors) = 0;
  /// Makes a buffer of host memory that is used in place, for reading only. `bytes` is not empty
  /// and starts at a page; the rest of its last page is mapped too. Null where the device cannot:
  /// the caller copies instead.
  /// Lifetime: `owner` keeps the memory alive until the buffer is freed.
  virtual std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner) = 0;
  /// Gives the memory of a buffer back before its last owner goes. This happens now, or when no
  /// submission in flight, unfinished encoder or pin uses it. Does nothing if it is freed already.
  /// Errors: invalid_argument for a buffer of a different device; from now on, stale from encoding
  /// and submitting anything that uses it.
  virtual void free(const std::shared_ptr<Buffer>& buffer) = 0;
  /// Returns how often free() took memory away: while it stays the same, nothing became stale.
  /// Takes no lock.
  virtual std::uint64_t free_count() const = 0;
  /// Gives back memory whose free() was deferred and that is not used any more. All members that
  /// submit, free, or find submissions complete do the same.
  virtual void release_freed() = 0;
  /// Returns the number of allocations so far; replay must not add to it.
  virtual std::uint64_t allocation_count() const = 0;

  virtual std::unique_ptr<Encoder> encoder(const EncoderOptions& options) = 0;
  /// Makes timestamps; null if the device cannot time itself.
  virtual std::shared_ptr<Timestamps> timestamps(std::uint32_t count) = 0;
  /// Makes a signal. Submissions wait for it in the order they were made. The submitter raises it
  /// for each of them, in any case, because later submissions wait behind it. While the next
  /// submission waits for the host, no wait() times out.
  virtual std::shared_ptr<HostSignal> host_signal() = 0;
  virtual void raise(const std::shared_ptr<HostSignal>& signal) = 0;
  /// Reads both clocks together; empty if the driver cannot.
  virtual std::optional<ClockSample> clock() = 0;
  /// Runs the encodings in order after everything submitted before. Returns the value to wait for;
  /// values grow by one. Submissions complete in order.
  /// Lifetime: keeps the encodings until they are complete.
  virtual std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) = 0;
  /// Returns whether this submission and all before it are complete. Never blocks.
  /// Errors: device_lost.
  virtual bool complete(std::uint64_t submission) = 0;
  /// Returns the last submission known to be complete with all before it, without asking the
  /// device.
  virtual std::uint64_t completed() = 0;
  /// Waits for this submission, but never for ever, unless the work itself runs on the host.
  /// Errors: device_lost, timeout.
  virtual void wait(std::uint64_t submission) = 0;
  /// Returns the last submission so far; 0 before the first.
  virtual std::uint64_t last_submission() = 0;
  /// Returns the last submission in flight that accesses the buffer in one of these ways; 0 if none
  /// does.
  virtual std::uint64_t last_use(const Buffer& buffer, Access access) = 0;
  /// Copies bytes to the beginning of a download buffer, and waits for that and for the last
  /// submission that writes `from`, but for no other. Returns false where the device cannot: the
  /// caller submits the copy, and waits for everything submitted.
  /// Lifetime: the caller keeps `from` from being freed. After an error the device may still copy,
  /// so the backend keeps both.
  /// Errors: device_lost, timeout.
  virtual bool copy_aside(const std::shared_ptr<Buffer>& /*from*/, std::uint64_t /*offset*/,
                          const std::shared_ptr<Buffer>& /*to*/, std::uint64_t /*bytes*/) {
    return false;
  }
  /// Compiles a shader of the caller's, makes its pipeline, and lets steps name it.
  /// Errors: invalid_argument for an invalid compute shader (of GLSL with the compiler's messages
  /// and their lines); unsupported for shaders that the device cannot run, and on devices that run
  /// none.
  /// Lifetime: steps may name it until the last copy of the result goes; encodings keep the shaders
  /// they use.
  virtual std::shared_ptr<const RunTimeShader> add_shader(const ShaderSource& source) {
    throw_error(ErrorCode::unsupported, "The kernel '", source.name, "' is a shader, but the ",
                info().backend, " device (", info().name, ") runs none; give it a function.");
  }
  /// Returns facts about a kernel some encoding used; empty on devices that run references.
  virtual std::optional<KernelInfo> kernel_info(const Kernel& kernel) const = 0;
  virtual KernelCounters kernel_counters() const = 0;
  /// Returns how the device runs a step whose pools are its own. Encodes nothing; may compile the
  /// kernel.
  virtual Support support(const StepList& steps, std::size_t index) const = 0;

  /// Refuses submissions from its beginning on and waits for those in flight. Does nothing if
  /// called again.
  /// Errors: device_lost, timeout.
  virtual void shutdown() = 0;
  /// Frees memory that it keeps for later and does not use now.
  virtual void trim() = 0;

 private:
  std::shared_ptr<DeviceLife> life_;
  std::shared_ptr<MemoryAccount> memory_;
};

}  // namespace reprise
