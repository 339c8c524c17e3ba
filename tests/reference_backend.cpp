#include "tests/reference_backend.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>

#include "reprise/backend/backend_factory.h"
#include "reprise/backend/host_call.h"
#include "reprise/backend/in_flight.h"
#include "reprise/open_device.h"

namespace reprise::testing {
namespace {

constexpr std::uint64_t kHeapBytes = std::uint64_t{4} << 30U;
constexpr const char* kName = "float64 references";

class ReferenceBuffer final : public Buffer {
 public:
  ReferenceBuffer(std::string name, std::uint64_t bytes, BufferKind kind, MemoryShare share)
      : Buffer(std::move(name), bytes, kind), share_(std::move(share)), memory_(bytes) {
    mapped_ = memory_.data();
  }
  std::byte* data() { return memory_.data(); }
  void release_memory() noexcept override {
    mapped_ = nullptr;
    std::vector<std::byte>().swap(memory_);
    share_.give_back();
  }

 private:
  MemoryShare share_;
  std::vector<std::byte> memory_;
};

std::byte* data_of(const std::shared_ptr<Buffer>& buffer) {
  auto* own = dynamic_cast<ReferenceBuffer*>(buffer.get());
  if (own == nullptr) {
    throw_invalid_argument("Buffer '" + buffer->name() + "' belongs to another device.");
  }
  return own->data();
}

class ReferenceTimestamps final : public Timestamps {
 public:
  explicit ReferenceTimestamps(std::uint32_t count) : Timestamps(count), ticks(count) {}
  std::vector<std::uint64_t> ticks;
};

class ReferenceSignal final : public HostSignal {
 public:
  std::uint64_t raised = 0, taken = 0;  // the queue's mutex guards them
};

class ReferenceEncoding final : public Encoding {
 public:
  std::vector<std::function<void()>> commands;
  std::shared_ptr<ReferenceSignal> after;
  BufferUses& mutable_uses() { return uses_; }
};

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

class ReferenceEncoder final : public Encoder {
 public:
  explicit ReferenceEncoder(const EncoderOptions& options) {
    encoding_->after = std::dynamic_pointer_cast<ReferenceSignal>(options.after);
  }
  void barrier() override {}
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override {
    const Step& step = steps[index];
    const auto bindings = steps.bindings(step);
    std::vector<std::byte*> data;
    for (const Binding& binding : bindings) {
      data.push_back(nullptr);
      if (binding.bytes != 0) {
        encoding_->mutable_uses().add(binding.pool, pools[binding.pool], binding.access);
        data.back() = data_of(pools[binding.pool]) + binding.offset;
      }
    }
    if (step.op == nullptr) {
      add([from = data[0], to = data[1], bytes = bindings[0].bytes] {
        std::memcpy(to, from, bytes);
      });
      return;
    }
    std::vector<TensorSpec> specs;
    const std::uint32_t *state = nullptr, *grid = nullptr;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      if (bindings[i].type == BindingType::storage) {
        data[specs.size()] = data[i];
        specs.push_back(steps.specs(step)[i]);
      } else {
        (bindings[i].type == BindingType::grid ? grid : state) =
            reinterpret_cast<const std::uint32_t*>(data[i]);
      }
    }
    const auto bytes = steps.bytes(step);
    add([&op = *step.op, data, specs, state, grid, rows = step.extent != Extent::kFixed,
         attributes = std::vector(bytes.begin(), bytes.end())] {
      if (grid != nullptr && *grid == 0) {
        return;
      }
      std::vector<TensorSpec> live = specs;
      std::vector<HostTensor> tensors;
      for (std::size_t i = 0; i < live.size(); ++i) {
        if (rows && !live[i].shape.fixed()) {
          live[i].shape = live[i].shape.with_front(*grid);
        }
        tensors.push_back({data[i], &live[i]});
      }
      run_reference({op, tensors, attributes, state});
    });
  }
  void reset(const std::shared_ptr<Timestamps>& /*stamps*/) override {}
  void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) override {
    add([taken = own(stamps), index] { taken->ticks.at(index) = now(); });
  }
  void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
               const std::shared_ptr<Buffer>& to, std::uint64_t offset) override {
    encoding_->mutable_uses().add(to, Access::write);
    add([taken = own(stamps), count, target = data_of(to) + offset] {
      std::memcpy(target, taken->ticks.data(), count * sizeof(std::uint64_t));
    });
  }
  void begin_label(std::string_view /*name*/) override {}
  void end_label() override {}
  std::unique_ptr<Encoding> finish() override {
    encoding_->mutable_uses().unpin();
    return std::move(encoding_);
  }

 private:
  void add(std::function<void()> command) { encoding_->commands.push_back(std::move(command)); }
  static std::shared_ptr<ReferenceTimestamps> own(const std::shared_ptr<Timestamps>& stamps) {
    return std::dynamic_pointer_cast<ReferenceTimestamps>(stamps);
  }
  std::unique_ptr<ReferenceEncoding> encoding_ = std::make_unique<ReferenceEncoding>();
};

DeviceInfo describe() {
  DeviceInfo info;
  info.backend = "reference";
  info.name = kName;
  info.type = "cpu";
  info.timestamp_valid_bits = 64;
  return info;
}

BackendCapabilities capable() {
  BackendCapabilities has;
  has.runs_on_host = true;
  has.maps_device_memory = true;
  has.timestamp_valid_bits = 64;
  has.heaps = {{.bytes = kHeapBytes}};
  return has;
}

/// Submissions run when somebody asks for them, on that thread, in order.
class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(const OpenOptions& options)
      : Backend(
            std::make_shared<DeviceLife>(kName),
            std::make_shared<MemoryAccount>(std::vector<HeapInfo>{{.bytes = kHeapBytes}},
                                            options.memory_budget, options.on_memory_pressure)) {
    traits_.runs_on_host = true;
    traits_.cpu_type = true;
    traits_.binding_alignment = 1;
  }
  const DeviceInfo& info() const override { return info_; }
  const DeviceTraits& traits() const override { return traits_; }
  const BackendCapabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                   MemoryPurpose purpose) override {
    life().require_ready();
    if (bytes == 0) {
      throw_invalid_argument("The buffer '" + name + "' needs a size above (0) bytes.");
    }
    MemoryShare share = memory().reserve(name, purpose, 0, bytes);
    ++allocations_;
    return std::make_shared<ReferenceBuffer>(std::move(name), bytes, kind, std::move(share));
  }
  std::shared_ptr<Buffer> import(std::string /*name*/, std::span<const std::byte> /*bytes*/,
                                 std::shared_ptr<const void> /*owner*/) override {
    return nullptr;
  }
  void free(const std::shared_ptr<Buffer>& buffer) override {
    data_of(buffer);
    const std::lock_guard lock(mutex_);
    in_flight_.free(buffer);
    release();
  }
  std::uint64_t free_count() const override { return in_flight_.free_count(); }
  void release_freed() override {
    const std::lock_guard lock(mutex_);
    release();
  }
  std::uint64_t allocation_count() const override { return allocations_; }
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    life().require_ready();
    return std::make_unique<ReferenceEncoder>(options);
  }
  std::shared_ptr<Timestamps> timestamps(std::uint32_t count) override {
    return std::make_shared<ReferenceTimestamps>(count);
  }
  std::shared_ptr<HostSignal> host_signal() override { return std::make_shared<ReferenceSignal>(); }
  void raise(const std::shared_ptr<HostSignal>& signal) override {
    const std::lock_guard lock(mutex_);
    ++dynamic_cast<ReferenceSignal&>(*signal).raised;
    raised_.notify_all();
  }
  std::optional<ClockSample> clock() override {
    return ClockSample{static_cast<std::int64_t>(now()), now(), 1000};
  }
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit /*follow*/) override {
    const std::lock_guard lock(mutex_);
    life().require_ready();
    in_flight_.admit(encodings);
    in_flight_.add(++submitted_, encodings);
    pending_.emplace_back(encodings.begin(), encodings.end());
    return submitted_;
  }
  bool complete(std::uint64_t submission) override {
    const std::lock_guard lock(mutex_);
    run_ready();
    return completed_ >= submission;
  }
  void wait(std::uint64_t submission) override {
    std::unique_lock lock(mutex_);
    life().require_alive();
    raised_.wait(lock, [&] { return run_ready(), completed_ >= submission; });
  }
  std::uint64_t completed() override {
    const std::lock_guard lock(mutex_);
    return completed_;
  }
  std::uint64_t last_submission() override {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }
  std::uint64_t last_use(const Buffer& buffer, Access access) override {
    const std::lock_guard lock(mutex_);
    return in_flight_.last_use(buffer, access);
  }
  std::optional<KernelInfo> kernel_info(const Kernel& /*kernel*/) const override { return {}; }
  KernelCounters kernel_counters() const override { return {}; }
  Support support(const StepList& steps, std::size_t index) const override {
    return steps[index].op == nullptr ? Support()
                                      : Support{SupportKind::lowered, "its float64 reference"};
  }
  void shutdown() override {
    life().shut_down();
    wait(last_submission());
  }
  void trim() override {}

 private:
  void run_ready() {
    while (!pending_.empty()) {
      const auto encodings = pending_.front();
      const auto after = encodings.empty() ? nullptr : of(encodings[0]).after;
      if (after != nullptr && after->raised == after->taken) {
        return;
      }
      if (after != nullptr) {
        ++after->taken;
      }
      for (const EncodingRef& encoding : encodings) {
        for (const auto& command : of(encoding).commands) {
          command();
        }
      }
      pending_.pop_front();
      ++completed_;
      std::array<EncodingRef, 8> retired;
      while (in_flight_.take(completed_, retired) == retired.size()) {
      }
      release();
    }
  }
  static const ReferenceEncoding& of(const EncodingRef& encoding) {
    return dynamic_cast<const ReferenceEncoding&>(*encoding);
  }
  void release() {
    while (const std::shared_ptr<Buffer> buffer = in_flight_.take_freed()) {
      buffer->release_memory();
    }
  }

  const DeviceInfo info_ = describe();
  const BackendCapabilities capabilities_ = capable();
  DeviceTraits traits_;
  std::atomic<std::uint64_t> allocations_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable raised_;
  InFlight in_flight_;
  std::deque<std::vector<EncodingRef>> pending_;
  std::uint64_t submitted_ = 0, completed_ = 0;
};

}  // namespace

void register_reference_backend() {
  register_backend({"reference", "1",
                    [] {
                      return std::vector{DeviceDescription{describe(), capable()}};
                    },
                    [](std::size_t, const OpenOptions& options) -> std::shared_ptr<Backend> {
                      return std::make_shared<ReferenceBackend>(options);
                    }});
}

}  // namespace reprise::testing
