#include "backends/cpu/cpu_backend.h"

#include <atomic>
#include <chrono>
#include <fstream>

#include "backends/cpu/cpu_queue.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/usable_cores.h"

namespace reprise::cpu {
namespace {

constexpr unsigned kMaxThreads = 1024;

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
  info.driver_name = "kernels";
  info.driver_info = kernel_target();
  info.timestamp_valid_bits = 64;
  return info;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const OpenOptions& options)
      : info_(describe_processor()),
        map_device_memory_(options.map_device_memory),
        runtime_(std::make_shared<CpuRuntime>(
            options.threads == 0 ? usable_cores() : options.threads, !options.references_only)) {
    info_.limits.emplace_back("threads", runtime_->pool.threads());
    if (options.references_only) {
      info_.driver_name = "references";
      info_.driver_info.clear();
    }
    traits_.runs_on_host = true;
    traits_.cpu_type = true;
    traits_.binding_alignment = 1;
    traits_.replays = options.replays;
  }
  const DeviceInfo& info() const override { return info_; }
  const DeviceTraits& traits() const override { return traits_; }

  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes,
                                   BufferKind kind) override {
    if (bytes == 0) {
      invalid("The buffer '" + name + "' needs a size above (0) bytes.");
    }
    ++allocations_;
    return std::make_shared<CpuBuffer>(runtime_->serial, std::move(name), bytes, kind,
                                       map_device_memory_);
  }
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) override {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment != 0) {
      return nullptr;
    }
    return std::make_shared<CpuBuffer>(runtime_->serial, std::move(name), bytes, std::move(owner));
  }
  void free(const std::shared_ptr<Buffer>& buffer) override {
    require_own(*buffer);
    queue_.free(buffer);
  }
  std::uint64_t free_count() const override { return queue_.free_count(); }
  void release_freed() override { queue_.release_freed(); }
  std::uint64_t allocation_count() const override { return allocations_; }

  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    return std::make_unique<CpuEncoder>(runtime_, options);
  }
  std::shared_ptr<Timestamps> timestamps(std::uint32_t count) override {
    return std::make_shared<CpuTimestamps>(count);
  }
  std::shared_ptr<HostSignal> host_signal() override {
    return std::make_shared<CpuHostSignal>(runtime_->serial);
  }
  void raise(const std::shared_ptr<HostSignal>& signal) override {
    auto* own = dynamic_cast<CpuHostSignal*>(signal.get());
    if (own == nullptr || own->device != runtime_->serial) {
      invalid("The host signal belongs to another device.");
    }
    queue_.raise(*own);
  }
  std::optional<ClockSample> clock() override {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    return ClockSample{now, static_cast<std::uint64_t>(now), 0};
  }
  std::uint64_t submit(std::span<const EncodingRef> encodings, Follow follow) override {
    return queue_.submit(encodings, follow);
  }
  bool complete(std::uint64_t submission) override { return queue_.complete(submission); }
  void wait(std::uint64_t submission) override { queue_.wait(submission); }
  std::uint64_t last_submission() override { return queue_.last_submission(); }
  std::uint64_t last_use(const Buffer& buffer, Access access) override {
    require_own(buffer);
    return queue_.last_use(buffer, access);
  }
  std::optional<KernelInfo> kernel_info(const Kernel& /*kernel*/) const override {
    return std::nullopt;
  }

 private:
  void require_own(const Buffer& buffer) const {
    const auto* own = dynamic_cast<const CpuBuffer*>(&buffer);
    if (own == nullptr || own->device() != runtime_->serial) {
      invalid("Buffer '" + buffer.name() + "' belongs to another device.");
    }
  }

  DeviceInfo info_;
  DeviceTraits traits_;
  bool map_device_memory_;
  std::shared_ptr<CpuRuntime> runtime_;
  std::atomic<std::uint64_t> allocations_{0};
  CpuQueue queue_{runtime_->serial};
};

}  // namespace

std::vector<DeviceInfo> enumerate() { return {describe_processor()}; }

std::shared_ptr<Backend> open(std::size_t /*index*/, const OpenOptions& options) {
  if (options.threads > kMaxThreads) {
    invalid("The CPU is asked for (" + std::to_string(options.threads) + ") threads, but 0 to " +
            std::to_string(kMaxThreads) + " are allowed.");
  }
  return std::make_shared<CpuBackend>(options);
}

}  // namespace reprise::cpu
