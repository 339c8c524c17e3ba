// Encoding for the CPU: a list of kernels, host calls and copies with their addresses resolved.
#pragma once
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/thread_pool.h"
#include "reprise/backend/backend.h"

namespace reprise::cpu {

/// Host memory, aligned to kAlignment. `device`: CpuRuntime::serial.
class CpuBuffer final : public Buffer {
 public:
  /// Throws out_of_memory.
  CpuBuffer(std::uint64_t device, std::string name, std::uint64_t bytes, BufferKind kind,
            bool mapped, MemoryShare share);
  /// Somebody else's memory in place.
  CpuBuffer(std::uint64_t device, std::string name, std::span<const std::byte> bytes,
            std::shared_ptr<const void> owner, MemoryShare share);
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;
  ~CpuBuffer() override;
  std::byte* data() const { return data_; }
  std::uint64_t device() const { return device_; }
  void release_memory() noexcept override;

 private:
  std::uint64_t device_;
  MemoryShare share_;
  std::byte* data_;
  std::shared_ptr<const void> owner_;  // of imported memory
};

/// Ticks are CLOCK_MONOTONIC nanoseconds.
class CpuTimestamps final : public Timestamps {
 public:
  explicit CpuTimestamps(std::uint32_t count) : Timestamps(count), ticks(count) {}
  std::vector<std::uint64_t> ticks;
};

/// The queue guards it with its mutex.
class CpuHostSignal final : public HostSignal {
 public:
  explicit CpuHostSignal(std::uint64_t of_device) : device(of_device) {}
  const std::uint64_t device;  // CpuRuntime::serial
  std::uint64_t raised = 0, awaited = 0;
};

/// What all encodings of a backend share.
struct CpuRuntime {
  explicit CpuRuntime(unsigned threads, bool with_kernels);
  const std::uint64_t serial;  // of the device, never used again
  ThreadPool pool;
  Scratch scratch;
  const bool kernels;  // false: references only
};

class CpuEncoding final : public Encoding {
 public:
  enum class Kind : std::uint8_t {
    kernel,
    call,
    rows,  // a kernel or call over as many rows as the grid says
    copy,
    stamp
  };
  struct Command {
    Kind kind = Kind::call;
    Precision precision = Precision::exact;            // rows
    const OpDef* op = nullptr;                         // call, rows
    std::uint32_t node = 0;                            // call
    std::uint32_t first_tensor = 0, tensor_count = 0;  // a copy goes from the first to the second
    std::uint32_t first_byte = 0, byte_count = 0;  // attributes of a call, arguments of a kernel
    const std::uint32_t* state = nullptr;          // kernel, call
    std::uint64_t copy_bytes = 0;
    std::uint64_t* stamp = nullptr;
    const std::uint32_t* grid = nullptr;  // where it is there and of 0 groups, nothing runs
    // kernel
    Stage stage{};
    std::int64_t chunk_items = 0;
    std::uint64_t shared_bytes = 0, own_bytes = 0;
  };
  explicit CpuEncoding(std::shared_ptr<CpuRuntime> runtime) : runtime_(std::move(runtime)) {}
  std::uint64_t device() const { return runtime_->serial; }
  /// See EncoderOptions; null: none.
  CpuHostSignal* after() const { return after_.get(); }
  void run() const;

 private:
  friend class CpuEncoder;
  /// Throws what the host function threw, with the node.
  void run_call(const Command& command, std::span<const HostTensor> tensors) const;
  void run_rows(const Command& command) const;
  void run_stage(const Stage& stage, std::int64_t chunk, const Work& work,
                 std::uint64_t own_bytes) const;

  std::shared_ptr<CpuRuntime> runtime_;
  std::shared_ptr<std::byte> scratch_;
  std::uint64_t scratch_bytes_ = 0;
  std::shared_ptr<CpuHostSignal> after_;
  std::vector<Command> commands_;
  std::vector<HostTensor> tensors_;  // their specs are in specs_
  std::vector<TensorSpec> specs_;
  std::vector<std::byte> bytes_;
  std::vector<std::shared_ptr<Timestamps>> stamps_;  // kept
  std::vector<std::shared_ptr<const OpDef>> ops_;    // kept, those that would go otherwise
};

class CpuEncoder final : public Encoder {
 public:
  CpuEncoder(std::shared_ptr<CpuRuntime> runtime, const EncoderOptions& options);
  void barrier() override {}  // calls run one after another
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override;
  void reset(const std::shared_ptr<Timestamps>& /*stamps*/) override {}
  void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) override;
  void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
               const std::shared_ptr<Buffer>& to, std::uint64_t offset) override;
  void begin_label(std::string_view /*name*/) override {}
  void end_label() override {}
  std::unique_ptr<Encoding> finish() override;

 private:
  CpuTimestamps& own(const std::shared_ptr<Timestamps>& stamps);
  /// Throws invalid_argument for buffers of another device.
  const CpuBuffer& own(const Buffer& buffer) const;
  /// False if no kernel takes the call.
  /// `command`: with the addresses of state and grid.
  bool encode_kernel(const KernelCall& call, CpuEncoding::Command command);
  /// Room for a kernel over all rows; fewer may take another one, which makes its own.
  void reserve_rows(const KernelCall& call);
  std::uint32_t append_bytes(std::span<const std::byte> bytes);

  CpuRuntime& runtime_;
  std::unique_ptr<CpuEncoding> encoding_;
  std::vector<HostTensor> operands_;  // of the step that is encoded
};

}  // namespace reprise::cpu
