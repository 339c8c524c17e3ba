// Device: a handle on an opened backend, with the tensors a user makes outside of sessions.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/core/backend.h"
#include "reprise/core/custom_kernel.h"
#include "reprise/session/ticket.h"

namespace reprise {

class UploadRing;

/// What a device does at one moment. Numbers of submissions count from 1.
struct DeviceStatus {
  DeviceState state = DeviceState::ready;
  std::uint64_t submitted = 0;    // so far: the last one
  std::uint64_t completed = 0;    // the last one known to be complete with all before it
  std::uint64_t in_flight = 0;    // those after it
  std::uint64_t allocations = 0;  // so far
  MemoryInfo memory;
  KernelCounters kernels;
  /// Of a recording, of the driver, of a host function.
  std::optional<DeviceError> last_error;
};

/// A cheap value; copies share the device. All members may be called concurrently.
class Device {
 public:
  explicit Device(std::shared_ptr<Backend> backend);
  Backend& backend() const { return *backend_; }
  const DeviceInfo& info() const { return backend_->info(); }
  const BackendCapabilities& capabilities() const { return backend_->capabilities(); }
  /// What it lacks, a line each.
  std::vector<std::string> unmet(const DeviceRequirements& wanted) const {
    return reprise::unmet(wanted, info(), capabilities());
  }
  bool meets(const DeviceRequirements& wanted) const { return unmet(wanted).empty(); }

  /// Asks the device what is complete; never waits, never throws for a lost or shut down device.
  DeviceStatus status() const;
  MemoryInfo memory() const { return backend_->memory_info(); }
  /// From now on; see OpenOptions::memory_budget.
  void set_memory_budget(std::uint64_t bytes) const { backend_->memory().set_budget(bytes); }
  /// Gives back what is kept for later and not used now: staging, descriptor sets, command memory,
  /// scratch of kernels. GraphExecutor::trim() does more.
  void trim() const;

  /// Waits for everything submitted so far, by whomever. Throws device_lost or timeout.
  void synchronize() const;
  /// The same as a ticket.
  [[nodiscard]] Ticket synchronize_async() const;
  /// Takes no new work from its beginning on and waits for what is in flight. Afterwards whatever
  /// would allocate, record or submit throws shut_down; tickets, outputs and mapped memory stay
  /// readable, and everything may be destroyed in any order. Does nothing if called again. Throws
  /// device_lost or timeout. It concerns all executors of the device.
  void shutdown() const { backend_->shutdown(); }

  /// Persistent tensors, their values given by a rule or by the host. Values are made on the host
  /// and uploaded in pieces, so the host needs no memory for a whole tensor and every device gets
  /// the same bits. Errors: invalid_argument for a shape without elements, for numbers the dtype
  /// cannot hold and for a dtype the call does not make; out_of_memory.
  /// Whatever the memory held: write it before it is read. Any dtype.
  Tensor empty(const Shape& shape, DType dtype, std::string name = {}) const;
  /// Any dtype.
  Tensor zeros(const Shape& shape, DType dtype, std::string name = {}) const;
  /// This and the following: f32, f16 or i32. Numbers are computed in double precision and rounded
  /// to f32, then to f16; those of i32 are integers.
  Tensor ones(const Shape& shape, DType dtype, std::string name = {}) const;
  Tensor full(const Shape& shape, DType dtype, double value, std::string name = {}) const;
  /// Element i, in row-major order, is start + i * step.
  Tensor arange(const Shape& shape, DType dtype, double start = 0, double step = 1,
                std::string name = {}) const;
  /// Independent uniform values of at least `low` and below `high`, or `low` where both are equal;
  /// i32: `high` may be 2^31. Element i is made of word i mod 4 of block i / 4 of Philox4x32-10
  /// (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011) with `seed` as its key: it
  /// depends on nothing but seed and index. It is low + (high - low) * word / 2^32, rounded to the
  /// nearest value of the dtype in the range, or down for i32.
  Tensor uniform(const Shape& shape, DType dtype, std::uint64_t seed, double low = 0,
                 double high = 1, std::string name = {}) const;
  /// Independent values of a normal distribution: f32 or f16. Element i is the quantile of
  /// (word + 0.5) / 2^32, of the same word as above, with a relative error below 1e-14 before it is
  /// rounded. None is further than 6.34 standard deviations from the mean.
  Tensor normal(const Shape& shape, DType dtype, std::uint64_t seed, double mean = 0,
                double stddev = 1, std::string name = {}) const;
  /// Bytes are in the order of a contiguous tensor of that shape and dtype.
  /// Errors: size_mismatch.
  Tensor from_host(const Shape& shape, DType dtype, std::span<const std::byte> bytes,
                   std::string name = {}) const;
  Tensor from_host(const Shape& shape, std::span<const float> values, std::string name = {}) const;
  Tensor from_host(const Shape& shape, std::span<const std::int32_t> values,
                   std::string name = {}) const;
  /// Returns the elements of a persistent, contiguous tensor, after all work submitted so far that
  /// writes it. Where the host shares the device's memory, it waits for no other work.
  /// Errors: dtype_mismatch; invalid_argument for a view with gaps and for a session's transient,
  /// which output() makes readable; stale.
  template <OutputElement T = std::byte>
  std::vector<T> to_host(const Tensor& tensor) const {
    const TensorRecord& from = readable(tensor);
    require_elements<T>(from.name, from.spec);
    std::vector<T> values(from.spec.bytes() / sizeof(T));
    read(from.buffer, from.offset, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Replaces all values of a persistent, contiguous tensor, in order with the work submitted so
  /// far; the given ones may be reused at once. Errors: invalid_argument for a transient, a strided
  /// view and imported memory; size_mismatch; dtype_mismatch; stale.
  void write(const Tensor& tensor, DType dtype, std::span<const std::byte> bytes) const;
  void write(const Tensor& tensor, std::span<const float> values) const {
    write(tensor, DType::f32, std::as_bytes(values));
  }
  void write(const Tensor& tensor, std::span<const std::int32_t> values) const {
    write(tensor, DType::i32, std::as_bytes(values));
  }

  /// Gives the memory of a persistent tensor back before its last handle goes: of its whole buffer,
  /// so of every tensor in it. It happens at once, or when the work in flight and the open sessions
  /// that use it are through with it. From now on its use throws stale: in an op, to_host, read and
  /// write, in finish() of a session that used it, in a launch of a graph that was recorded with it
  /// (CapturedGraph::stale tells, rebind() repairs it). Does nothing if it is freed already. Throws
  /// invalid_argument for transients and for tensors of another device. Memory reached through
  /// Buffer::mapped() is the caller's own care.
  void free(const Tensor& tensor) const;
  /// A tensor of `shape` whose first bytes are those of `tensor`, after all work submitted so far,
  /// and whose rest is zero; frees `tensor`. Waits for nothing. The first dimension may be larger,
  /// the others are the same; with the same shape it is `tensor` itself. Throws invalid_argument
  /// for other shapes, and for a tensor that does not fill its buffer.
  [[nodiscard]] Tensor grow(const Tensor& tensor, const Shape& shape) const;

  /// A buffer over memory of the host, used in place: it may be read, not written. `owner` keeps
  /// the memory alive, until the last tensor, graph or encoding that uses the buffer is gone; it
  /// may die on any thread and must not own a Device. The first byte starts a page, and the rest of
  /// the last page is mapped too, as mmap does both. Null where the device cannot use it (any
  /// GPU, a misaligned start, memory the driver refuses): upload it instead. Throws
  /// invalid_argument for no bytes.
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) const;

  /// Memory of that kind. It starts at a multiple of `alignment`, a power of two that is at most
  /// BackendCapabilities::allocation_alignment. Throws invalid_argument for another one and for 0
  /// bytes, out_of_memory.
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes,
                                   BufferKind kind = BufferKind::device,
                                   std::uint64_t alignment = 1) const;
  /// Copies the bytes of one persistent tensor to another one of the same size on the device, after
  /// all work submitted so far. Both are contiguous and do not overlap. Throws invalid_argument for
  /// others, stale for freed ones.
  void copy(const Tensor& from, const Tensor& to) const;
  [[nodiscard]] Ticket copy_async(const Tensor& from, const Tensor& to) const;
  /// From a tensor of another device, through the host, a piece at a time.
  void copy_from(const Device& other, const Tensor& from, const Tensor& to) const;
  /// A kernel of the caller's, for dispatch(): docs/custom-kernels.md. On devices that run shaders
  /// it is compiled and its pipeline made. Throws invalid_argument for a name, source or interface
  /// that is not valid - of GLSL with the compiler's messages, by line - and where shader and
  /// interface do not match, naming the binding; unsupported if the source has nothing that this
  /// device runs, or needs more than it has.
  CustomKernel compile_kernel(const KernelSource& source, const KernelInterface& interface) const;

  /// Copies to and from any buffer, in order with the work submitted from this thread: a write
  /// waits for work in flight that uses the memory, or is queued behind it; its bytes
  /// may be reused at once. Throws invalid_argument for ranges outside the buffer
  /// and for writing to imported ones, stale for freed ones.
  void write(const std::shared_ptr<Buffer>& to, std::uint64_t offset,
             std::span<const std::byte> bytes) const;
  void read(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
            std::span<std::byte> bytes) const;

 private:
  /// Errors: as to_host().
  static const TensorRecord& readable(const Tensor& tensor);
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<UploadRing> ring_;
};

}  // namespace reprise
