// Encoding for the CPU: a list of host calls and copies with their addresses resolved.
#pragma once
#include <vector>

#include "reprise/core/backend.h"

namespace reprise::cpu {

/// Host memory, 64-byte aligned.
class CpuBuffer final : public Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  /// Throws out_of_memory.
  CpuBuffer(std::string name, std::uint64_t bytes, BufferKind kind, bool mapped);
  /// Somebody else's memory in place.
  CpuBuffer(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;
  ~CpuBuffer() override;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::shared_ptr<const void> owner_;  // of imported memory
};

/// Ticks are CLOCK_MONOTONIC nanoseconds.
class CpuTimestamps final : public Timestamps {
 public:
  explicit CpuTimestamps(std::uint32_t count) : Timestamps(count), ticks(count) {}
  std::vector<std::uint64_t> ticks;
};

class CpuEncoding final : public Encoding {
 public:
  enum class Kind : std::uint8_t { call, copy, stamp };
  struct Command {
    Kind kind = Kind::call;
    const OpDef* op = nullptr;                         // call
    std::uint32_t first_tensor = 0, tensor_count = 0;  // a copy goes from the first to the second
    std::uint32_t first_byte = 0, byte_count = 0;      // attributes of a call
    const std::uint32_t* state = nullptr;              // call
    std::uint64_t copy_bytes = 0;
    std::uint64_t* stamp = nullptr;
  };
  void run() const;

 private:
  friend class CpuEncoder;
  std::vector<Command> commands_;
  std::vector<HostTensor> tensors_;  // their specs are in specs_
  std::vector<TensorSpec> specs_;
  std::vector<std::byte> bytes_;
  std::vector<std::shared_ptr<Timestamps>> stamps_;  // kept
};

class CpuEncoder final : public Encoder {
 public:
  CpuEncoder();
  void barrier() override {}  // calls run one after another
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override;
  void reset(const std::shared_ptr<Timestamps>& /*stamps*/) override {}
  void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) override;
  void resolve(const std::shared_ptr<Timestamps>& stamps, const std::shared_ptr<Buffer>& to,
               std::uint64_t offset) override;
  void begin_label(std::string_view /*name*/) override {}
  void end_label() override {}
  std::unique_ptr<Encoding> finish() override;

 private:
  CpuTimestamps& own(const std::shared_ptr<Timestamps>& stamps);
  std::unique_ptr<CpuEncoding> encoding_;
};

}  // namespace reprise::cpu
