// What becomes of the buffers of a recording: some are freed, some are replaced.
#include <algorithm>

#include "framework/session/capture_pool_memory.h"
#include "framework/session/host_clock.h"
#include "framework/session/rebound_graph.h"
#include "framework/session/recording.h"

namespace reprise {
namespace {

bool same_layout(const TensorSpec& a, const TensorSpec& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.strides == b.strides;
}

const TensorRecord& persistent(const TensorRef& tensor) {
  if (!tensor || tensor->buffer == nullptr) {
    throw_invalid_argument(std::string("rebind takes persistent tensors, but one is ") +
                           (tensor ? "a session's transient." : "empty."));
  }
  return *tensor;
}

/// The first few of the buffers that may be rebound.
std::string some_buffers(const std::vector<Pool>& pools) {
  constexpr std::size_t kMost = 8;
  std::string names;
  std::size_t count = 0;
  for (const Pool& pool : pools) {
    if (pool.kind == "buffer" && ++count <= kMost) {
      names += (names.empty() ? "" : ", ") + pool.buffer->name();
    }
  }
  return names.empty()
             ? "none"
             : names + (count > kMost ? " and " + std::to_string(count - kMost) + " more" : "");
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

std::optional<std::string> CapturedGraph::Recording::stale() {
  const std::uint64_t count = core_->device().backend().free_count();
  if (fresh_at_ == count) {
    return std::nullopt;
  }
  for (const auto* buffers : {&pools_, &state_buffers_}) {
    for (const std::shared_ptr<Buffer>& buffer : *buffers) {
      if (buffer != nullptr && buffer->freed()) {
        if (SessionProfile* profile = core_->profile()) {
          profile->buffer_freed(*buffer);  // nobody told the executor earlier
        }
        return "The graph '" + recorded_->graph.name + "' is stale: its buffer (" + buffer->name() +
               ") was freed. Record it again, or rebind() it to the tensor that took its place.";
      }
    }
  }
  fresh_at_ = count;
  return std::nullopt;
}

void CapturedGraph::Recording::require_not_stale() {
  if (const auto reason = stale()) {
    throw Error(ErrorCode::stale, *reason);
  }
}

std::uint32_t CapturedGraph::Recording::pool_to_rebind(const TensorRecord& from,
                                                       const TensorRecord& to) const {
  const std::string graph = "The graph '" + recorded_->graph.name + "'";
  const std::vector<Pool>& pools = recorded_->plan.pools;
  const auto index_of = [&](const Buffer& buffer) {
    const auto it = std::ranges::find_if(pools_, [&](const auto& p) { return p.get() == &buffer; });
    return static_cast<std::uint32_t>(it - pools_.begin());
  };
  const std::uint32_t pool = index_of(*from.buffer);
  if (pool == pools_.size() || pool == ExecutionPlan::kArena) {
    throw_invalid_argument(graph + " does not use the buffer (" + from.buffer->name() +
                           "); those that can be rebound are: " + some_buffers(pools) + ".");
  }
  if (pools[pool].kind != "buffer" ||
      std::ranges::find(state_buffers_, from.buffer) != state_buffers_.end()) {
    throw_invalid_argument(graph + " cannot be rebound to another state block (" +
                           from.buffer->name() + "): record it with that one.");
  }
  if (!same_layout(from.spec, to.spec) || from.offset != to.offset ||
      from.buffer->bytes() != to.buffer->bytes()) {
    const auto text = [](const TensorRecord& t) {
      return to_string(t.spec) + " at byte (" + std::to_string(t.offset) + ") of (" +
             std::to_string(t.buffer->bytes()) + ")";
    };
    throw_invalid_argument(graph + " is rebound from '" + from.name + "', " + text(from) +
                           ", to '" + to.name + "', " + text(to) +
                           "; both must lie alike in buffers of one size.");
  }
  if (from.buffer != to.buffer && index_of(*to.buffer) != pools_.size()) {
    throw_invalid_argument(graph + " uses the buffer (" + to.buffer->name() +
                           ") already; its barriers hold for separate ones only.");
  }
  if (writes_pool(recorded_->plan.steps, pool)) {
    to.buffer->require_writable();
  }
  to.buffer->require_alive();
  return pool;
}

void CapturedGraph::Recording::rebind(const TensorRef& from_tensor, const TensorRef& to_tensor) {
  const TensorRecord& from = persistent(from_tensor);
  const std::shared_ptr<Buffer> to = persistent(to_tensor).buffer;
  const std::uint32_t pool = pool_to_rebind(from, *to_tensor);
  const std::shared_ptr<Buffer> old = from.buffer;
  if (old == to) {
    return;
  }
  const BufferChange change{old.get(), to};
  auto recorded = rebound_graph(*recorded_, {&change, 1});
  std::vector<std::shared_ptr<Buffer>> pools = pools_;
  pools[pool] = to;
  const std::int64_t begin = now_ns();
  // With another buffer freed nothing can be launched: the rebind that replaces the last one
  // encodes.
  const bool launches = std::ranges::none_of(
      pools, [](const std::shared_ptr<Buffer>& p) { return p != nullptr && p->freed(); });
  Body body = launches ? encode_body(TimingMode::off, pools) : Body();
  if (pool_) {
    pool_.memory().replace(recorded_->graph.name, *old, to);
  }
  for (const SlotEntry& entry : slots_) {
    entry.slot->rebind(*old, to);
  }
  recorded_ = std::move(recorded);
  pools_ = std::move(pools);
  plain_ = replays() ? std::move(body) : Body();
  timed_ = serialised_ = {};
  watched_.forget_bodies();
  fresh_at_ = ~std::uint64_t{0};
  if (profile_id_ != 0) {
    FinishReport report;  // a recording is an encoded plan, so this is another one
    report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
    profile_recording(report);
  }
}

}  // namespace reprise
