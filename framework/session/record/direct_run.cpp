#include "framework/session/record/direct_run.h"

#include <algorithm>

#include "framework/core/lowering.h"
#include "framework/graph/make_plan.h"
#include "framework/graph/node_call.h"

namespace reprise {

DirectRun::DirectRun(std::shared_ptr<ExecutorCore> core, std::string_view name,
                     const GraphSizes& expected, std::uint64_t session)
    : core_(std::move(core)),
      arena_(ExecutorCore::borrow_arena(core_)),
      name_(name),
      session_(session),
      encoder_(open_encoder()),
      labels_(*encoder_) {
  steps_.reserve(expected.nodes, expected.uses);
  homes_.reserve(expected.storages);
  const TimingMode mode = core_->timing_mode(std::nullopt);
  const bool by_node = mode == TimingMode::node || mode == TimingMode::node_serialised;
  if (SessionProfile* profile = core_->profile(); by_node && profile != nullptr) {
    profile->timestamp_bias();
    step_times_ = mode;
    arena_->step_stamps.restart();
    take_stamp();
  }
}

DirectRun::~DirectRun() {
  encoder_.reset();
  core_->device().backend().release_freed();  // it may have been the last to use them
}

void DirectRun::take_stamp() {
  if (step_times_ != TimingMode::off) {
    arena_->step_stamps.take(core_->device(), *encoder_);
  }
}

std::uint32_t DirectRun::pool_of(const std::shared_ptr<Buffer>& buffer) {
  std::uint32_t& pool = pool_index_.slot(buffer.get());
  if (pool == kNoIndex) {
    pool = static_cast<std::uint32_t>(pools_.size());
    pools_.push_back(buffer);
  }
  return pool;
}

void DirectRun::set_extents(std::span<const GraphExtent> extents,
                            std::span<const std::uint32_t> host) {
  host_words_.assign(host.begin(), host.end());
  empty_ = std::ranges::any_of(
      extents, [&](const GraphExtent& extent) { return host_words_[extent.word] == 0; });
}

void DirectRun::place(const GraphCapture& capture, std::uint32_t storage) {
  const ComputeGraph& graph = capture.graph();
  homes_.resize(std::max<std::size_t>(homes_.size(), graph.storages.size()));
  Home& home = homes_[storage];
  if (home.pool != kUnplaced) {
    return;
  }
  const Storage& s = graph.storages[storage];
  if (s.is_persistent()) {
    home.pool = pool_of(capture.buffer_of(storage));
    return;
  }
  home.range = arena_->allocate(core_->device(), s.bytes, s.input);
  home.pool = pool_of(arena_->chunk(home.range.chunk));
  home.offset = home.range.begin;
}

void DirectRun::encode_node(GraphCapture& capture) {
  const ComputeGraph& graph = capture.graph();
  capture.collect_dead([&](std::uint32_t storage) {
    if (!graph.storages[storage].input && homes_[storage].pool != kUnplaced) {
      arena_->release(homes_[storage].range);
    }
  });
  const auto index = static_cast<std::uint32_t>(graph.nodes.size() - 1);
  DriverWork work = driver_work(graph);
  work.at(index);
  for (const Use& use : graph.uses_of(graph.nodes[index])) {
    place(capture, graph.tensors[use.tensor].storage);
  }
  const std::size_t first = steps_.size();
  const NodeCall node(graph, index);
  if (empty_ && node.call().op.name != "plan") {
    return;
  }
  lower(node.call(), core_->traits(), steps_);
  if (!host_words_.empty()) {
    steps_.settle_extents(first, host_words_);
  }
  labels_->enter(graph.names, graph.nodes[index].scope);
  for (std::size_t i = first; i < steps_.size(); ++i) {
    for (Binding& binding : steps_.bindings(steps_[i])) {
      if (binding.bytes == 0) {
        binding.pool = 0;
        continue;
      }
      const Home& home = homes_[binding.pool];
      binding.pool = home.pool;
      binding.offset += home.offset;
    }
    touches_of(steps_, steps_[i], touches_);
    const bool waits = tracker_.step(static_cast<std::uint32_t>(i), touches_);
    if (waits) {
      arena_->barrier();
    }
    if (waits || core_->serialize() || step_times_ == TimingMode::node_serialised) {
      encoder_->barrier();
      ++barriers_;
    }
    if (is_host_step(steps_[i])) {
      host_step_.emplace(core_->device(), graph, capture.functions().at(index), steps_,
                         static_cast<std::uint32_t>(i), arena_->host_staging);
      host_step_->encode_reads(*encoder_, pools_);
    } else {
      encoder_->step(steps_, i, pools_);
      take_stamp();
    }
  }
}

void DirectRun::run_host_step() {
  host_step_->call();
  host_step_->encode_writes(*encoder_, pools_);
  encoder_->barrier();  // nothing tracks the copies
  take_stamp();
}

std::unique_ptr<Encoder> DirectRun::open_encoder() const {
  // A host step may follow, and what it reads is copied last.
  return core_->device().backend().encoder({.name = name_, .ends_at_host = true});
}

std::unique_ptr<Encoding> DirectRun::cut() {
  std::unique_ptr<Encoding> part = finish();
  encoder_ = open_encoder();
  labels_.emplace(*encoder_);
  tracker_.forget();  // encodings begin with a full barrier
  arena_->barrier();
  return part;
}

std::unique_ptr<Encoding> DirectRun::finish() {
  labels_->close();
  if (step_times_ != TimingMode::off) {
    arena_->step_stamps.resolve(*encoder_);
  }
  return encoder_->finish();
}

Exchange DirectRun::exchange(const GraphCapture& capture, std::string name, std::uint32_t tensor) {
  const GraphTensor& t = capture.graph().tensors[tensor];
  place(capture, t.storage);
  const Home& home = homes_[t.storage];
  return {std::move(name), t.spec, pools_[home.pool], home.offset + t.offset, 0};
}

}  // namespace reprise
