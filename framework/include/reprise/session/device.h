// Device: a handle on an opened backend, with the tensors a user makes outside of sessions.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reprise/core/buffer.h"
#include "reprise/core/custom_kernel.h"
#include "reprise/core/device_info.h"
#include "reprise/session/ticket.h"

namespace reprise {

class Backend;
class UploadRing;

/// The status of a device at one moment. Numbers of submissions count from 1.
struct DeviceStatus {
  DeviceState state = DeviceState::ready;
  std::uint64_t submitted = 0;    // number of the last submission
  std::uint64_t completed = 0;    // the last one known complete, with all before it
  std::uint64_t in_flight = 0;    // submissions after `completed`
  std::uint64_t allocations = 0;  // so far
  MemoryInfo memory;
  KernelCounters kernels;
  /// The most recent error of a recording, the driver or a host function.
  std::optional<DeviceError> last_error;
};

/// An opened device.
/// Lifetime: copies share the device; copying is cheap.
/// Threads: all members may be called concurrently.
class Device {
 public:
  explicit Device(std::shared_ptr<Backend> backend);
  Backend& backend() const { return *backend_; }
  const DeviceInfo& info() const;
  const BackendCapabilities& capabilities() const;
  /// Returns what the device lacks, a line each.
  std::vector<std::string> unmet(const DeviceRequirements& wanted) const {
    return reprise::unmet(wanted, info(), capabilities());
  }
  bool meets(const DeviceRequirements& wanted) const { return unmet(wanted).empty(); }

  /// Asks the device what is complete. Never waits, and works on a lost or shut down device too.
  DeviceStatus status() const;
  MemoryInfo memory() const;
  /// Sets OpenOptions::memory_budget from now on.
  void set_memory_budget(std::uint64_t bytes) const;
  /// Frees what is kept for later and not used now: staging, descriptor sets, command memory,
  /// scratch of kernels. GraphExecutor::trim() does more.
  void trim() const;

  /// Waits for all work submitted so far, by any executor.
  /// Errors: device_lost, timeout.
  void synchronize() const;
  /// Returns a ticket for the same instead of waiting.
  [[nodiscard]] Ticket synchronize_async() const;
  /// Refuses new work from its beginning on and waits for what is in flight. It concerns all
  /// executors of the device. Afterwards tickets, outputs and mapped memory stay readable, and
  /// everything may be destroyed in any order. Does nothing if called again.
  /// Errors: device_lost, timeout; afterwards shut_down from every call that allocates, records or
  /// submits.
  void shutdown() const;

  /// Make persistent tensors with values given by a rule or by the host. Values are made on the
  /// host and uploaded in pieces. So the host needs no memory for a whole tensor, and every device
  /// gets the same bits.
  /// Errors: invalid_argument for a shape without elements, for numbers the dtype cannot hold and
  /// for a dtype the call does not make; out_of_memory.
  ///
  /// empty(): any dtype, uninitialised. Write the tensor before reading it.
  Tensor empty(const Shape& shape, DType dtype, std::string name = {}) const;
  /// Fills with zeros; any dtype.
  Tensor zeros(const Shape& shape, DType dtype, std::string name = {}) const;
  /// Fills with ones; dtypes of this and the following calls are f32, f16 or i32. Numbers are
  /// computed in double precision and rounded to f32, then to f16; those of i32 are integers.
  Tensor ones(const Shape& shape, DType dtype, std::string name = {}) const;
  Tensor full(const Shape& shape, DType dtype, double value, std::string name = {}) const;
  /// Sets element i, in row-major order, to start + i * step.
  Tensor arange(const Shape& shape, DType dtype, double start = 0, double step = 1,
                std::string name = {}) const;
  /// Draws independent uniform values of at least `low` and below `high`, or `low` where both are
  /// equal. For i32, `high` may be 2^31. Element i is made of word i mod 4 of block i / 4 of
  /// Philox4x32-10 with `seed` as its key, so it depends only on seed and index. It is low + (high
  /// - low) * word / 2^32, rounded to the nearest value of the dtype in the range, or down for i32.
  /// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011.
  Tensor uniform(const Shape& shape, DType dtype, std::uint64_t seed, double low = 0,
                 double high = 1, std::string name = {}) const;
  /// Draws independent values of a normal distribution: f32 or f16. Element i is the quantile of
  /// (word + 0.5) / 2^32, of the same word as above. Its relative error is below 1e-14 before it is
  /// rounded. No value is further than 6.34 standard deviations from the mean.
  Tensor normal(const Shape& shape, DType dtype, std::uint64_t seed, double mean = 0,
                double stddev = 1, std::string name = {}) const;
  /// Copies bytes in the order of a contiguous tensor of that shape and dtype.
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
  /// far.
  /// Errors: invalid_argument for a transient, a strided view and imported memory; size_mismatch;
  /// dtype_mismatch; stale.
  /// Lifetime: `bytes` and `values` may be reused at once.
  void write(const Tensor& tensor, DType dtype, std::span<const std::byte> bytes) const;
  void write(const Tensor& tensor, std::span<const float> values) const {
    write(tensor, DType::f32, std::as_bytes(values));
  }
  void write(const Tensor& tensor, std::span<const std::int32_t> values) const {
    write(tensor, DType::i32, std::as_bytes(values));
  }

  /// Frees the memory of a persistent tensor before its last handle goes. This frees the whole
  /// buffer, so every tensor in it. It happens at once, or when the work in flight and the open
  /// sessions that use it are done. Does nothing if it is freed already.
  /// Errors: invalid_argument for transients and for tensors of a different device. From now on,
  /// stale from every use: in an op, to_host, read and write, in finish() of a session that used
  /// it, in a launch of a graph recorded with it. CapturedGraph::stale reports that, rebind()
  /// repairs it.
  /// Lifetime: pointers from Buffer::mapped() are not checked; the caller must not use them any
  /// more.
  void free(const Tensor& tensor) const;
  /// Returns a tensor of `shape` that begins with the bytes of `tensor`, after all work submitted
  /// so far. Its rest is zero. Frees `tensor` and waits for nothing. With the same shape it returns
  /// `tensor` itself.
  /// Shapes: the first dimension may be larger, the others are the same.
  /// Errors: invalid_argument for other shapes, and for a tensor that does not fill its buffer.
  [[nodiscard]] Tensor grow(const Tensor& tensor, const Shape& shape) const;

  /// Makes a buffer over memory of the host, used in place: it may be read, not written. The first
  /// byte starts a page, and the rest of the last page is mapped too, as mmap does both. Returns
  /// null where the device cannot use it (any GPU, a misaligned start, memory the driver refuses):
  /// upload it instead.
  /// Errors: invalid_argument for no bytes.
  /// Lifetime: `owner` keeps the memory alive until the last tensor, graph or encoding that uses
  /// the buffer is gone. It may die on any thread and must not own a Device.
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) const;

  /// Allocates memory of that kind. It starts at a multiple of `alignment`, a power of two of at
  /// most BackendCapabilities::allocation_alignment.
  /// Errors: invalid_argument for any other alignment and for 0 bytes; out_of_memory.
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes,
                                   BufferKind kind = BufferKind::device,
                                   std::uint64_t alignment = 1) const;
  /// Copies the bytes of one persistent tensor to another one of the same size on the device, after
  /// all work submitted so far. Both are contiguous and do not overlap.
  /// Errors: invalid_argument for any other tensors; stale for freed ones.
  void copy(const Tensor& from, const Tensor& to) const;
  [[nodiscard]] Ticket copy_async(const Tensor& from, const Tensor& to) const;
  /// Copies from a tensor of another device, through the host, a piece at a time.
  void copy_from(const Device& other, const Tensor& from, const Tensor& to) const;
  /// Compiles a kernel of the caller's, for dispatch(): docs/custom-kernels.md. On devices that run
  /// shaders it also makes the pipeline.
  /// Errors: invalid_argument for a name, source or interface that is not valid (of GLSL with the
  /// compiler's messages, by line), and where shader and interface do not match, naming the
  /// binding; unsupported if the source has nothing that this device runs, or needs more than it
  /// has.
  CustomKernel compile_kernel(const KernelSource& source, const KernelInterface& interface) const;

  /// Copy to and from any buffer, in order with the work submitted from this thread. A write waits
  /// for work in flight that uses the memory, or is queued behind it.
  /// Errors: invalid_argument for ranges outside the buffer and for writing to imported ones; stale
  /// for freed ones.
  /// Lifetime: the bytes given to a write may be reused at once.
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
