// Encoding for the CPU: a list of host calls and copies with their addresses resolved.
#pragma once
#include <vector>

#include "reprise/core/backend.h"

namespace reprise::cpu {

/// Host memory, 64-byte aligned. Throws out_of_memory.
class CpuBuffer final : public Buffer {
 public:
  CpuBuffer(std::string name, std::uint64_t bytes, BufferKind kind);
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;
  ~CpuBuffer() override;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

class CpuTimer final : public Timer {
 public:
  std::optional<std::uint64_t> elapsed_ns() override;
  void start();
  void stop();

 private:
  std::int64_t start_ns_ = 0, stop_ns_ = 0;
};

class CpuEncoding final : public Encoding {
 public:
  struct Call {
    const OpDef* op = nullptr;  // null: a copy from tensors[0] to tensors[1]
    std::uint32_t first_tensor = 0, tensor_count = 0;
    std::uint32_t first_byte = 0, byte_count = 0;  // attributes; byte_count of a copy is unused
    const std::uint32_t* state = nullptr;
    std::uint64_t copy_bytes = 0;
  };
  void run() const;

 private:
  friend class CpuEncoder;
  std::vector<Call> calls_;
  std::vector<HostTensor> tensors_;  // their specs are in specs_
  std::vector<TensorSpec> specs_;
  std::vector<std::byte> bytes_;
  CpuTimer* start_ = nullptr;
  CpuTimer* stop_ = nullptr;
};

class CpuEncoder final : public Encoder {
 public:
  explicit CpuEncoder(const EncoderOptions& options);
  void barrier() override {}  // calls run one after another
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override;
  void begin_label(std::string_view /*name*/) override {}
  void end_label() override {}
  std::unique_ptr<Encoding> finish() override;

 private:
  std::unique_ptr<CpuEncoding> encoding_;
};

}  // namespace reprise::cpu
