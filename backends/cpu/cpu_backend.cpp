#include "backends/cpu/cpu_backend.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>

#include "backends/cpu/cpu_encoder.h"

namespace reprise::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(':');
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

DeviceInfo describe_processor() {
  DeviceInfo info;
  info.backend = "cpu";
  info.name = processor_name();
  info.type = "cpu";
  info.driver_name = "reference";
  info.timestamp_valid_bits = 64;
  return info;
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : info_(describe_processor()) {
    traits_.runs_references = true;
    traits_.cpu_type = true;
    traits_.binding_alignment = 1;
  }
  const DeviceInfo& info() const override { return info_; }
  const DeviceTraits& traits() const override { return traits_; }

  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes,
                                   BufferKind kind) override {
    if (bytes == 0) {
      invalid("The buffer '" + name + "' needs a size above (0) bytes.");
    }
    ++allocations_;
    return std::make_shared<CpuBuffer>(std::move(name), bytes, kind);
  }
  std::uint64_t allocation_count() const override { return allocations_; }

  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    return std::make_unique<CpuEncoder>(options);
  }
  std::unique_ptr<Timer> timer() override { return std::make_unique<CpuTimer>(); }

  /// Runs at once: a submission is complete when this returns.
  std::uint64_t submit(std::span<const Encoding* const> encodings) override {
    const std::lock_guard lock(queue_);
    for (const Encoding* encoding : encodings) {
      static_cast<const CpuEncoding*>(encoding)->run();
    }
    return ++submitted_;
  }
  void wait(std::uint64_t submission) override {
    const std::lock_guard lock(queue_);
    if (submission > submitted_) {
      invalid("Submission (" + std::to_string(submission) + ") does not exist; the last one is " +
              std::to_string(submitted_) + ".");
    }
  }
  std::optional<KernelInfo> kernel_info(const Kernel& /*kernel*/) const override {
    return std::nullopt;
  }

 private:
  DeviceInfo info_;
  DeviceTraits traits_;
  std::atomic<std::uint64_t> allocations_{0};
  std::mutex queue_;
  std::uint64_t submitted_ = 0;
};

}  // namespace

std::vector<DeviceInfo> enumerate() { return {describe_processor()}; }

std::shared_ptr<Backend> open(std::size_t /*index*/, const OpenOptions& /*options*/) {
  return std::make_shared<CpuBackend>();
}

}  // namespace reprise::cpu
