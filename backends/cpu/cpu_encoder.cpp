#include "backends/cpu/cpu_encoder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

#include "framework/core/custom_op.h"

namespace reprise::cpu {
namespace {

// A chunk is short, so that a thread the system stops in the middle of one delays little, and far
// longer than taking it.
constexpr double kChunkNs = 20'000;
// Kernels that take less than this are not worth the attention of another thread.
constexpr double kShareNs = 15'000;
constexpr std::int64_t kChunksPerThread = 4;

/// Items in a chunk; all of them where one thread is enough.
std::int64_t chunk_items(const Stage& stage, unsigned threads) {
  if (threads < 2 || static_cast<double>(stage.items) * stage.item_ns < kShareNs) {
    return stage.items;
  }
  const auto of_time = static_cast<std::int64_t>(kChunkNs / stage.item_ns);
  const std::int64_t of_threads = stage.items / (std::int64_t{threads} * kChunksPerThread);
  const std::int64_t min = stage.items / std::numeric_limits<std::uint32_t>::max() + 1;
  return std::max(std::min(of_time, of_threads), min);
}

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t now_ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

CpuRuntime::CpuRuntime(unsigned threads, bool with_kernels)
    : serial([] {
        static std::atomic<std::uint64_t> next{1};
        return next.fetch_add(1, std::memory_order_relaxed);
      }()),
      pool(threads),
      kernels(with_kernels) {}

CpuBuffer::CpuBuffer(std::uint64_t device, std::string name, std::uint64_t bytes, BufferKind kind,
                     bool mapped, MemoryShare share)
    : Buffer(std::move(name), bytes, kind),
      device_(device),
      share_(std::move(share)),
      data_(static_cast<std::byte*>(
          ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow))) {
  if (data_ == nullptr) {
    throw_error(ErrorCode::out_of_memory, "The buffer '", this->name(), "' needs (", bytes,
                ") bytes, which the system does not give.");
  }
  mapped_ = mapped || kind != BufferKind::device ? data_ : nullptr;
}

// No step writes to imported memory, but host functions take all tensors alike.
CpuBuffer::CpuBuffer(std::uint64_t device, std::string name, std::span<const std::byte> bytes,
                     std::shared_ptr<const void> owner, MemoryShare share)
    : Buffer(std::move(name), bytes.size(), BufferKind::imported),
      device_(device),
      share_(std::move(share)),
      data_(const_cast<std::byte*>(bytes.data())),
      owner_(std::move(owner)) {}

CpuBuffer::~CpuBuffer() { release_memory(); }

void CpuBuffer::release_memory() noexcept {
  if (kind() != BufferKind::imported) {
    ::operator delete (data_, std::align_val_t{kAlignment});
  }
  mapped_ = data_ = nullptr;
  owner_.reset();
  share_.give_back();
}

void CpuEncoding::run() const {
  for (const Command& command : commands_) {
    if (command.grid != nullptr && *command.grid == 0) {
      continue;
    }
    const std::span tensors(tensors_.data() + command.first_tensor, command.tensor_count);
    switch (command.kind) {
      case Kind::kernel: {
        const Work work{bytes_.data() + command.first_byte, command.state, scratch_.get(),
                        scratch_.get() + command.shared_bytes};
        run_stage(command.stage, command.chunk_items, work, command.own_bytes);
        break;
      }
      case Kind::rows:
        run_rows(command);
        break;
      case Kind::call:
        run_call(command, tensors);
        break;
      case Kind::copy:
        std::memcpy(tensors[1].data, tensors[0].data, command.copy_bytes);
        break;
      case Kind::stamp:
        *command.stamp = now_ticks();
        break;
    }
  }
}

void CpuEncoding::run_call(const Command& command, std::span<const HostTensor> tensors) const {
  const auto fail = [&](const std::string& why) {
    throw_error(ErrorCode::device_lost, "Op ", command.node, " ", command.op->name,
                " failed on the host: ", why);
  };
  try {
    command.op->reference({*command.op, tensors,
                           std::span(bytes_.data() + command.first_byte, command.byte_count),
                           command.state});
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("an exception of an unknown type was thrown.");
  }
}

void CpuEncoding::run_stage(const Stage& stage, std::int64_t chunk, const Work& work,
                            std::uint64_t own_bytes) const {
  if (chunk >= stage.items) {
    stage.run(work, 0, stage.items);
    return;
  }
  struct Job {
    const Stage& stage;
    std::int64_t chunk;
    Work work;
    std::uint64_t own_bytes;
  };
  const Job job{stage, chunk, work, own_bytes};
  const std::int64_t chunks = (stage.items + chunk - 1) / chunk;
  runtime_->pool.run(
      static_cast<std::uint32_t>(chunks),
      [](const void* context, unsigned thread, std::uint32_t index) {
        const Job& shared = *static_cast<const Job*>(context);
        Work own = shared.work;
        own.own += thread * shared.own_bytes;
        const std::int64_t first = index * shared.chunk;
        shared.stage.run(own, first, std::min(first + shared.chunk, shared.stage.items));
      },
      &job);
}

void CpuEncoding::run_rows(const Command& command) const {
  constexpr std::size_t kMaxTensors = 12;
  std::array<TensorSpec, kMaxTensors> specs;
  std::array<HostTensor, kMaxTensors> tensors;
  for (std::size_t i = 0; i < command.tensor_count; ++i) {
    const HostTensor& full = tensors_[command.first_tensor + i];
    specs[i] = *full.spec;
    if (!specs[i].shape.fixed()) {
      specs[i].shape = specs[i].shape.with_front(*command.grid);
    }
    tensors[i] = {full.data, &specs[i]};
  }
  const HostCall call{*command.op, std::span(tensors).first(command.tensor_count),
                      std::span(bytes_).subspan(command.first_byte, command.byte_count),
                      command.state};
  KernelPlan plan;
  if (!runtime_->kernels || !plan_kernel({call, command.precision}, plan)) {
    command.op->reference(call);
    return;
  }
  const std::uint64_t shared_bytes = whole_lines(plan.shared_bytes);
  const std::uint64_t own_bytes = whole_lines(plan.own_bytes);
  const std::uint64_t bytes = shared_bytes + runtime_->pool.threads() * own_bytes;
  const auto scratch = bytes <= scratch_bytes_ ? scratch_ : runtime_->scratch.at_least(bytes);
  const Work work{plan.arguments.data(), command.state, scratch.get(),
                  scratch.get() + shared_bytes};
  for (const Stage& stage : {plan.prepare, plan.main}) {
    if (stage.run != nullptr) {
      run_stage(stage, chunk_items(stage, runtime_->pool.threads()), work, own_bytes);
    }
  }
}

CpuEncoder::CpuEncoder(std::shared_ptr<CpuRuntime> runtime, const EncoderOptions& options)
    : runtime_(*runtime), encoding_(std::make_unique<CpuEncoding>(std::move(runtime))) {
  if (options.after != nullptr) {
    encoding_->after_ = std::dynamic_pointer_cast<CpuHostSignal>(options.after);
    if (encoding_->after_ == nullptr || encoding_->after_->device != runtime_.serial) {
      throw_invalid_argument("The host signal belongs to another device.");
    }
  }
}

CpuTimestamps& CpuEncoder::own(const std::shared_ptr<Timestamps>& stamps) {
  auto* own = dynamic_cast<CpuTimestamps*>(stamps.get());
  if (own == nullptr) {
    throw_invalid_argument("The timestamps belong to another backend.");
  }
  if (encoding_->stamps_.empty() || encoding_->stamps_.back() != stamps) {
    encoding_->stamps_.push_back(stamps);
  }
  return *own;
}

const CpuBuffer& CpuEncoder::own(const Buffer& buffer) const {
  const auto* own = dynamic_cast<const CpuBuffer*>(&buffer);
  if (own == nullptr || own->device() != runtime_.serial) {
    throw_invalid_argument("Buffer '", buffer.name(), "' belongs to another device.");
  }
  return *own;
}

void CpuEncoder::stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) {
  encoding_->commands_.push_back(
      {.kind = CpuEncoding::Kind::stamp, .stamp = &own(stamps).ticks.at(index)});
}

void CpuEncoder::resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
                         const std::shared_ptr<Buffer>& to, std::uint64_t offset) {
  auto& ticks = own(stamps).ticks;
  const CpuBuffer& target = own(*to);
  encoding_->uses_.add(to, Access::write);
  CpuEncoding::Command copy{.kind = CpuEncoding::Kind::copy};
  copy.first_tensor = static_cast<std::uint32_t>(encoding_->tensors_.size());
  copy.tensor_count = 2;
  copy.copy_bytes = std::min<std::uint64_t>(count, ticks.size()) * sizeof(std::uint64_t);
  for (std::byte* data : {reinterpret_cast<std::byte*>(ticks.data()), target.data() + offset}) {
    encoding_->tensors_.push_back({data, nullptr});
    encoding_->specs_.emplace_back();
  }
  encoding_->commands_.push_back(copy);
}

std::uint32_t CpuEncoder::append_bytes(std::span<const std::byte> bytes) {
  std::vector<std::byte>& all = encoding_->bytes_;
  const std::size_t first = all.size();
  all.insert(all.end(), bytes.begin(), bytes.end());
  all.resize((all.size() + 7) / 8 * 8);  // attribute structs align to 8
  return static_cast<std::uint32_t>(first);
}

bool CpuEncoder::encode_kernel(const KernelCall& call, CpuEncoding::Command command) {
  KernelPlan plan;
  if (!runtime_.kernels || !plan_kernel(call, plan)) {
    return false;
  }
  command.kind = CpuEncoding::Kind::kernel;
  command.shared_bytes = whole_lines(plan.shared_bytes);
  command.own_bytes = whole_lines(plan.own_bytes);
  command.first_byte = append_bytes(std::span(plan.arguments).first(plan.argument_bytes));
  std::uint64_t threads = 1;
  for (const Stage& stage : {plan.prepare, plan.main}) {
    if (stage.run == nullptr) {
      continue;
    }
    command.stage = stage;
    command.chunk_items = chunk_items(stage, runtime_.pool.threads());
    if (command.chunk_items < stage.items) {
      runtime_.pool.start();
      threads = runtime_.pool.threads();
    }
    encoding_->commands_.push_back(command);
  }
  encoding_->scratch_bytes_ =
      std::max(encoding_->scratch_bytes_, command.shared_bytes + threads * command.own_bytes);
  return true;
}

void CpuEncoder::reserve_rows(const KernelCall& call) {
  KernelPlan plan;
  if (runtime_.kernels && plan_kernel(call, plan)) {
    runtime_.pool.start();
    encoding_->scratch_bytes_ = std::max(
        encoding_->scratch_bytes_,
        whole_lines(plan.shared_bytes) + runtime_.pool.threads() * whole_lines(plan.own_bytes));
  }
}

void CpuEncoder::step(const StepList& steps, std::size_t index,
                      std::span<const std::shared_ptr<Buffer>> pools) {
  const Step& step = steps[index];
  const auto bindings = steps.bindings(step);
  const auto specs = steps.specs(step);
  CpuEncoding::Command command;
  operands_.clear();
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    std::byte* data = nullptr;
    if (bindings[i].bytes != 0) {
      const std::shared_ptr<Buffer>& buffer = pools[bindings[i].pool];
      const CpuBuffer& known = own(*buffer);
      encoding_->uses_.add(bindings[i].pool, buffer, bindings[i].access);  // its memory stays
      data = known.data() + bindings[i].offset;
    }
    if (bindings[i].type == BindingType::grid) {
      command.grid = reinterpret_cast<const std::uint32_t*>(data);
      continue;
    }
    if (bindings[i].type == BindingType::uniform) {
      command.state = reinterpret_cast<const std::uint32_t*>(data);
      continue;
    }
    operands_.push_back({data, specs.empty() ? nullptr : &specs[i]});
  }
  command.kind = step.op == nullptr ? CpuEncoding::Kind::copy : CpuEncoding::Kind::call;
  if (step.op != nullptr) {
    if (auto owner = owner_of(*step.op); owner != nullptr) {
      encoding_->ops_.push_back(std::move(owner));
    }
    const KernelCall call{{*step.op, operands_, steps.bytes(step), nullptr}, step.precision};
    if (step.extent != Extent::kFixed) {
      reserve_rows(call);
      command.kind = CpuEncoding::Kind::rows;
    } else if (encode_kernel(call, command)) {
      return;
    }
  }
  command.op = step.op;
  command.node = step.node;
  command.precision = step.precision;
  command.copy_bytes = step.op == nullptr ? bindings[0].bytes : 0;
  command.first_tensor = static_cast<std::uint32_t>(encoding_->tensors_.size());
  command.tensor_count = static_cast<std::uint32_t>(operands_.size());
  for (const HostTensor& operand : operands_) {
    encoding_->tensors_.push_back({operand.data, nullptr});
    encoding_->specs_.push_back(operand.spec == nullptr ? TensorSpec() : *operand.spec);
  }
  command.byte_count = step.byte_count;
  command.first_byte = append_bytes(steps.bytes(step));
  encoding_->commands_.push_back(command);
}

std::unique_ptr<Encoding> CpuEncoder::finish() {
  for (std::size_t i = 0; i < encoding_->tensors_.size(); ++i) {
    encoding_->tensors_[i].spec = &encoding_->specs_[i];
  }
  encoding_->scratch_ = runtime_.scratch.at_least(encoding_->scratch_bytes_);
  encoding_->uses_.unpin();
  return std::move(encoding_);
}

}  // namespace reprise::cpu
