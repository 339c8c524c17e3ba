#include "backends/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <unistd.h>

#include "backends/cpu/cpu_queue.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/kernel_table.h"
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

/// The one heap: all memory of the machine.
HeapInfo host_memory() {
  return {.bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

BackendCapabilities capabilities_of(const DeviceInfo& info, const OpenOptions& options) {
  BackendCapabilities has;
  has.runs_on_host = true;
  has.replays = options.replays;
  has.imports_host_memory = true;
  has.maps_device_memory = has.reads_beside_work = options.map_device_memory;
  has.timestamp_valid_bits = info.timestamp_valid_bits;
  has.calibrated_clock = true;
  has.allocation_alignment = kAlignment;
  has.import_alignment = kAlignment;
  has.heaps = {host_memory()};
  return has;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const OpenOptions& options)
      : Backend(std::make_shared<DeviceLife>(processor_name()),
                std::make_shared<MemoryAccount>(std::vector{host_memory()}, options.memory_budget,
                                                options.on_memory_pressure)),
        info_(describe_processor()),
        map_device_memory_(options.map_device_memory),
        runtime_(std::make_shared<CpuRuntime>(
            options.threads == 0 ? usable_cores() : options.threads, !options.references_only)),
        queue_(runtime_->serial, shared_life()) {
    info_.limits.emplace_back("threads", runtime_->pool.threads());
    if (options.references_only) {
      info_.driver_name = "references";
      info_.driver_info.clear();
    }
    if (options.limits.no_timestamps) {
      info_.timestamp_valid_bits = 0;
    }
    capabilities_ = capabilities_of(info_, options);
    traits_.runs_on_host = true;
    traits_.cpu_type = true;
    traits_.binding_alignment = 1;
    traits_.replays = options.replays;
  }
  const DeviceInfo& info() const override { return info_; }
  const DeviceTraits& traits() const override { return traits_; }
  const BackendCapabilities& capabilities() const override { return capabilities_; }

  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                   MemoryPurpose purpose) override {
    life().require_ready();
    if (bytes == 0) {
      throw_invalid_argument("The buffer '", name, "' needs a size above (0) bytes.");
    }
    MemoryShare share = memory().reserve(name, purpose, 0, bytes);
    auto buffer = std::make_shared<CpuBuffer>(runtime_->serial, std::move(name), bytes, kind,
                                              map_device_memory_, std::move(share));
    ++allocations_;
    return buffer;
  }
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) override {
    life().require_ready();
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment != 0) {
      return nullptr;
    }
    MemoryShare share =
        memory().reserve(name, MemoryPurpose::imported, MemoryAccount::kNoHeap, bytes.size());
    return std::make_shared<CpuBuffer>(runtime_->serial, std::move(name), bytes, std::move(owner),
                                       std::move(share));
  }
  void free(const std::shared_ptr<Buffer>& buffer) override {
    require_own(*buffer);
    queue_.free(buffer);
  }
  std::uint64_t free_count() const override { return queue_.free_count(); }
  void release_freed() override { queue_.release_freed(); }
  std::uint64_t allocation_count() const override { return allocations_; }

  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    life().require_ready();
    return std::make_unique<CpuEncoder>(runtime_, options);
  }
  std::shared_ptr<Timestamps> timestamps(std::uint32_t count) override {
    life().require_ready();
    return info_.timestamp_valid_bits == 0 ? nullptr : std::make_shared<CpuTimestamps>(count);
  }
  std::shared_ptr<HostSignal> host_signal() override {
    life().require_ready();
    return std::make_shared<CpuHostSignal>(runtime_->serial);
  }
  void raise(const std::shared_ptr<HostSignal>& signal) override {
    auto* own = dynamic_cast<CpuHostSignal*>(signal.get());
    if (own == nullptr || own->device != runtime_->serial) {
      throw_invalid_argument("The host signal belongs to another device.");
    }
    queue_.raise(*own);
  }
  std::optional<ClockSample> clock() override {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    return ClockSample{now, static_cast<std::uint64_t>(now), 0};
  }
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) override {
    return queue_.submit(encodings, then);
  }
  bool complete(std::uint64_t submission) override { return queue_.complete(submission); }
  std::uint64_t completed() override { return queue_.completed(); }
  void wait(std::uint64_t submission) override { queue_.wait(submission); }
  std::uint64_t last_submission() override { return queue_.last_submission(); }
  std::uint64_t last_use(const Buffer& buffer, Access access) override {
    require_own(buffer);
    return queue_.last_use(buffer, access);
  }
  std::optional<KernelInfo> kernel_info(const Kernel& /*kernel*/) const override {
    return std::nullopt;
  }
  KernelCounters kernel_counters() const override { return {}; }
  Support support(const StepList& steps, std::size_t index) const override;
  void shutdown() override { queue_.shutdown(); }
  void trim() override { runtime_->scratch.trim(); }

 private:
  void require_own(const Buffer& buffer) const {
    const auto* own = dynamic_cast<const CpuBuffer*>(&buffer);
    if (own == nullptr || own->device() != runtime_->serial) {
      throw_invalid_argument("Buffer '", buffer.name(), "' belongs to another device.");
    }
  }

  DeviceInfo info_;
  DeviceTraits traits_;
  BackendCapabilities capabilities_;
  bool map_device_memory_;
  std::shared_ptr<CpuRuntime> runtime_;
  std::atomic<std::uint64_t> allocations_{0};
  CpuQueue queue_;
};

// What chooses a kernel is the shape of a call, so any memory will do.
Support CpuBackend::support(const StepList& steps, std::size_t index) const {
  const Step& step = steps[index];
  if (step.kind == StepKind::dispatch) {
    return {SupportKind::unsupported, "the CPU runs no shaders"};
  }
  if (step.op == nullptr) {
    return {};
  }
  alignas(kAlignment) static std::byte anywhere[kAlignment];
  const auto bindings = steps.bindings(step);
  const auto specs = steps.specs(step);
  std::vector<HostTensor> operands;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].type == BindingType::storage) {
      operands.push_back({bindings[i].bytes == 0 ? nullptr : anywhere, &specs[i]});
    }
  }
  KernelPlan plan;
  const HostCall call{*step.op, operands, steps.bytes(step), nullptr};
  return runtime_->kernels && plan_kernel({call, step.precision}, plan)
             ? Support()
             : Support{SupportKind::lowered, "its float64 reference, not a kernel"};
}

}  // namespace

std::vector<DeviceDescription> enumerate() {
  const DeviceInfo info = describe_processor();
  return {{info, capabilities_of(info, {})}};
}

std::shared_ptr<Backend> open(std::size_t /*index*/, const OpenOptions& options) {
  if (options.threads > kMaxThreads) {
    throw_invalid_argument("The CPU is asked for (", options.threads, ") threads, but 0 to ",
                           kMaxThreads, " are allowed.");
  }
  return std::make_shared<CpuBackend>(options);
}

bool has_kernel(std::string_view op) {
  return std::ranges::any_of(all_kernels(),
                             [op](const NamedKernel& kernel) { return kernel.op == op; });
}

}  // namespace reprise::cpu
