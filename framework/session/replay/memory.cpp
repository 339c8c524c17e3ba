#include "framework/session/replay/memory.h"

#include <algorithm>

#include "framework/session/replay/capture_pool_memory.h"
#include "framework/session/replay/framework_tensors.h"

namespace reprise {
namespace {

bool same_layout(const TensorSpec& a, const TensorSpec& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.strides == b.strides;
}

const TensorRecord& persistent(const TensorRef& tensor) {
  if (!tensor || tensor->buffer == nullptr) {
    throw_invalid_argument("rebind takes persistent tensors, but one is ",
                           (tensor ? "a session's transient." : "empty."));
  }
  return *tensor;
}

bool writes_pool(const StepList& steps, std::uint32_t pool) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const Binding& binding : steps.bindings(steps[s])) {
      if (binding.pool == pool && binding.bytes != 0 && writes(binding.access)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Memory::Memory(ExecutorCore& core, const PassPlan& plan, const Sources& sources)
    : device_(core.device()),
      plan_(plan.execution),
      state_(sources.state),
      pool_(sources.pool),
      rows_(plan.rows),
      buffers_(plan.given),
      state_buffers_(state_.buffers()) {
  const ComputeGraph& graph = *plan_->graph;
  if (rows_) {
    rows_.iteration = device_.zeros(rows_.iteration.shape(), DType::i32, "iteration");
    rows_.rows = device_.zeros(rows_.rows.shape(), DType::i32, "iteration rows");
    write_grids(device_, rows_.iteration, plan_->steps.grids(), graph.extents);
  }
  for (std::uint32_t p = 1; p < buffers_.size(); ++p) {
    if (buffers_[p] == nullptr) {
      buffers_[p] = source_of(core, p, sources);
    }
  }
  if (pool_) {
    buffers_[ExecutionPlan::kArena] =
        pool_.memory().admit(device_, graph.name, plan_->arena_bytes, buffers_);
  } else if (plan_->arena_bytes > 0) {
    buffers_[ExecutionPlan::kArena] =
        device_.backend().allocate("arena of '" + graph.name + "'", plan_->arena_bytes,
                                   BufferKind::device, MemoryPurpose::arenas);
  }
}

StorageOrigin Memory::origin_of(std::uint32_t pool) const {
  const std::uint32_t storage = plan_->pools[pool].storage;
  return storage == kNoIndex ? StorageOrigin::transient : plan_->graph->storages[storage].origin;
}

std::shared_ptr<Buffer> Memory::source_of(const ExecutorCore& core, std::uint32_t pool,
                                          const Sources& sources) const {
  const StorageOrigin origin = origin_of(pool);
  if (origin == StorageOrigin::own) {
    const ComputeGraph& graph = *plan_->graph;
    const std::string_view name = graph.names.text(graph.storages[plan_->pools[pool].storage].name);
    return TensorRef(std::ranges::find(sources.own, name, &NamedTensor::name)->tensor)->buffer;
  }
  const auto known = FrameworkTensor::all(core, state_, rows_);
  return TensorRef(std::ranges::find(known, origin, &FrameworkTensor::origin)->tensor)->buffer;
}

const Buffer* Memory::first_freed() {
  const std::uint64_t count = device_.backend().free_count();
  if (fresh_at_ == count) {
    return nullptr;
  }
  for (const auto* buffers : {&buffers_, &state_buffers_}) {
    for (const std::shared_ptr<Buffer>& buffer : *buffers) {
      if (buffer != nullptr && buffer->freed()) {
        return buffer.get();
      }
    }
  }
  fresh_at_ = count;
  return nullptr;
}

std::uint32_t Memory::pool_of(const Buffer& buffer) const {
  const auto it = std::ranges::find_if(buffers_, [&](const auto& b) { return b.get() == &buffer; });
  return static_cast<std::uint32_t>(it - buffers_.begin());
}

/// The first few of the buffers that may be rebound.
std::string Memory::caller_buffers() const {
  constexpr std::size_t kMaxNames = 8;
  std::string names;
  std::size_t count = 0;
  for (std::uint32_t p = 0; p < buffers_.size(); ++p) {
    if (origin_of(p) == StorageOrigin::caller && ++count <= kMaxNames) {
      names += (names.empty() ? "" : ", ") + buffers_[p]->name();
    }
  }
  return names.empty()
             ? "none"
             : names +
                   (count > kMaxNames ? " and " + std::to_string(count - kMaxNames) + " more" : "");
}

std::uint32_t Memory::pool_to_rebind(const TensorRecord& from, const TensorRecord& to) const {
  const std::string graph = "The graph '" + plan_->graph->name + "'";
  const std::uint32_t pool = pool_of(*from.buffer);
  if (pool == buffers_.size() || pool == ExecutionPlan::kArena) {
    throw_invalid_argument(graph, " does not use the buffer (", from.buffer->name(),
                           "); those that can be rebound are: ", caller_buffers(), ".");
  }
  if (origin_of(pool) != StorageOrigin::caller) {
    throw_invalid_argument(graph, " cannot be rebound to another state block (",
                           from.buffer->name(), "): record it with that one.");
  }
  if (!same_layout(from.spec, to.spec) || from.offset != to.offset ||
      from.buffer->bytes() != to.buffer->bytes()) {
    const auto text = [](const TensorRecord& t) {
      return to_string(t.spec) + " at byte (" + std::to_string(t.offset) + ") of (" +
             std::to_string(t.buffer->bytes()) + ")";
    };
    throw_invalid_argument(graph, " is rebound from '", from.name, "', ", text(from), ", to '",
                           to.name, "', ", text(to),
                           "; both must lie alike in buffers of one size.");
  }
  if (from.buffer != to.buffer && pool_of(*to.buffer) != buffers_.size()) {
    throw_invalid_argument(graph, " uses the buffer (", to.buffer->name(),
                           ") already; its barriers hold for separate ones only.");
  }
  if (writes_pool(plan_->steps, pool)) {
    to.buffer->require_writable();
  }
  to.buffer->require_alive();
  return pool;
}

Memory Memory::rebound(const TensorRef& from, const TensorRef& to) const {
  Memory other = *this;
  const std::uint32_t pool = pool_to_rebind(persistent(from), persistent(to));
  other.buffers_[pool] = to->buffer;
  other.fresh_at_ = ~std::uint64_t{0};
  return other;
}

void Memory::keep_rebound(const Buffer& from, const std::shared_ptr<Buffer>& to) const {
  if (pool_) {
    pool_.memory().replace(plan_->graph->name, from, to);
  }
}

}  // namespace reprise
