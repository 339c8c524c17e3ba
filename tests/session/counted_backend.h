// A backend that tells which of its buffers are alive. Everything else goes to the one behind it.
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>

#include "reprise/backend/backend.h"
#include "reprise/backend/driver_messages.h"
#include "reprise/reprise.h"

namespace reprise::testing {

class CountedBackend : public Backend {
 public:
  explicit CountedBackend(Device device)
      : Backend(device.backend().shared_life(), device.backend().memory().shared_from_this()),
        device_(std::move(device)) {}

  struct Live {
    std::size_t buffers = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Live&) const = default;
  };
  /// Buffers with an owner whose memory was not given back.
  Live live() {
    const std::lock_guard lock(mutex_);
    std::erase_if(made_, [](const auto& buffer) { return buffer.expired(); });
    Live live;
    for (const auto& watched : made_) {
      if (const auto buffer = watched.lock(); buffer != nullptr && !buffer->freed()) {
        ++live.buffers;
        live.bytes += buffer->bytes();
      }
    }
    return live;
  }

  /// How often something was encoded.
  std::uint64_t encodings() const { return encodings_; }

  const DeviceInfo& info() const override { return inner().info(); }
  const DeviceTraits& traits() const override { return inner().traits(); }
  const BackendCapabilities& capabilities() const override { return inner().capabilities(); }
  std::shared_ptr<DriverMessages> driver_messages() const override {
    return inner().driver_messages();
  }
  MemoryInfo memory_info() const override { return inner().memory_info(); }
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                   MemoryPurpose purpose) override {
    return watch(inner().allocate(std::move(name), bytes, kind, purpose));
  }
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) override {
    return watch(inner().import(std::move(name), bytes, std::move(owner)));
  }
  void free(const std::shared_ptr<Buffer>& buffer) override { inner().free(buffer); }
  std::uint64_t free_count() const override { return inner().free_count(); }
  void release_freed() override { inner().release_freed(); }
  std::uint64_t allocation_count() const override { return inner().allocation_count(); }
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    ++encodings_;
    return inner().encoder(options);
  }
  std::shared_ptr<Timestamps> timestamps(std::uint32_t count) override {
    return inner().timestamps(count);
  }
  std::shared_ptr<HostSignal> host_signal() override { return inner().host_signal(); }
  void raise(const std::shared_ptr<HostSignal>& signal) override { inner().raise(signal); }
  std::optional<ClockSample> clock() override { return inner().clock(); }
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) override {
    return inner().submit(encodings, then);
  }
  bool complete(std::uint64_t submission) override { return inner().complete(submission); }
  std::uint64_t completed() override { return inner().completed(); }
  void wait(std::uint64_t submission) override { inner().wait(submission); }
  std::uint64_t last_submission() override { return inner().last_submission(); }
  std::uint64_t last_use(const Buffer& buffer, Access access) override {
    return inner().last_use(buffer, access);
  }
  std::shared_ptr<const RunTimeShader> add_shader(const ShaderSource& source) override {
    return inner().add_shader(source);
  }
  std::optional<KernelInfo> kernel_info(const Kernel& kernel) const override {
    return inner().kernel_info(kernel);
  }
  KernelCounters kernel_counters() const override { return inner().kernel_counters(); }
  Support support(const StepList& steps, std::size_t index) const override {
    return inner().support(steps, index);
  }
  void shutdown() override { inner().shutdown(); }
  void trim() override { inner().trim(); }

 private:
  Backend& inner() const { return device_.backend(); }
  std::shared_ptr<Buffer> watch(std::shared_ptr<Buffer> buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer != nullptr) {
      made_.push_back(buffer);
    }
    return buffer;
  }
  Device device_;
  std::atomic<std::uint64_t> encodings_{0};
  std::mutex mutex_;
  std::vector<std::weak_ptr<Buffer>> made_;
};

}  // namespace reprise::testing
