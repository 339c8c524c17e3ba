#include "reprise/session/graph_executor.h"

#include "framework/session/executor_core.h"

namespace reprise {
namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

ExecutorCore::ExecutorCore(Device device, ExecutorOptions options)
    : device_(std::move(device)),
      empty_state_(device_.zeros({StateLayout::kMaxWords}, DType::i32, "empty state")) {
  if (!options.profile.empty()) {
    profile_ = open_profile(options.profile, options.run, std::move(options.log));
    profile_->device(device_.info());
  }
}

std::uint64_t ExecutorCore::next_owner() {
  // Serials are unique in the process: a tensor of one executor is foreign to every other.
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

ExecutorCore::ArenaLoan ExecutorCore::borrow_arena(const std::shared_ptr<ExecutorCore>& core) {
  std::unique_ptr<DirectArena> arena;
  {
    const std::lock_guard lock(core->mutex_);
    auto& idle = core->idle_arenas_;
    if (!idle.empty()) {
      const auto largest =
          std::ranges::max_element(idle, {}, [](const auto& a) { return a->bytes(); });
      arena = std::move(*largest);
      idle.erase(largest);
    }
  }
  if (arena == nullptr) {
    arena = std::make_unique<DirectArena>();
  }
  return {arena.release(), [core](DirectArena* returned) {
            returned->reset();
            const std::lock_guard lock(core->mutex_);
            core->idle_arenas_.emplace_back(returned);
          }};
}

std::uint64_t ExecutorCore::profile_buffer(const std::shared_ptr<Buffer>& buffer,
                                           std::string_view kind) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& id = buffer_ids_[{buffer.get(), buffer->created_ns()}];
  if (id == 0) {
    id = profile_->next_id();
    profile_->buffer(
        {id, buffer->name(), std::string(kind), buffer->bytes(), buffer->created_ns()});
  }
  return id;
}

void ExecutorCore::profile_buffer_freed(const Buffer& buffer) {
  const std::lock_guard lock(mutex_);
  const auto it = buffer_ids_.find({&buffer, buffer.created_ns()});
  if (it != buffer_ids_.end()) {
    profile_->buffer_freed(it->second, now_ns());
    buffer_ids_.erase(it);
  }
}

GraphExecutor::GraphExecutor(Device device, ExecutorOptions options)
    : core_(std::make_shared<ExecutorCore>(std::move(device), std::move(options))) {}

const Device& GraphExecutor::device() const { return core_->device(); }

GraphSession GraphExecutor::begin(SessionOptions options) {
  return {core_, GraphSession::Mode::direct, std::move(options)};
}

GraphSession GraphExecutor::begin_recorded(SessionOptions options) {
  return {core_, GraphSession::Mode::recorded, std::move(options)};
}

}  // namespace reprise
