// Small recordings made by hand, a temporary folder, and SQL as text, for the profile tests.
#pragma once
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

#include "framework/core/op.h"
#include "framework/graph/make_plan.h"
#include "framework/profile/profile_sink.h"

namespace reprise::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reprise-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  bool empty() const { return std::filesystem::is_empty(path_); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

struct NormAttributes {
  float eps = 1e-6F;
  bool centred = true;
  Param<std::int32_t> position;
};

inline Cost test_cost(const BoundCall& call) { return streaming_cost(call, 7); }

inline void test_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const std::array<std::uint32_t, 2> push{call.node, 0xABCD};
  steps.dispatch(call, traits, {call.op.name, {64, 2}, 2}, {3, 2, 1}, push);
}

inline const OpDef& norm_op() {
  static constexpr Operand kOperands[] = {{"x"}, {"weight"}};
  static constexpr Operand kResults[] = {{"y", Access::write}};
  static constexpr Attribute kAttributes[] = {
      {"eps", AttributeType::f32, offsetof(NormAttributes, eps)},
      {"centred", AttributeType::boolean, offsetof(NormAttributes, centred)},
      {"position", AttributeType::param_i32, offsetof(NormAttributes, position)}};
  static constexpr OpDef kDef{.name = "norm",
                              .operands = kOperands,
                              .results = kResults,
                              .attributes = kAttributes,
                              .cost = test_cost,
                              .lower = test_lower};
  return kDef;
}

inline const OpDef& add_op() {
  static constexpr Operand kOperands[] = {{"a"}, {"b"}};
  static constexpr Operand kResults[] = {{"y", Access::write}};
  static constexpr OpDef kDef{.name = "add",
                              .operands = kOperands,
                              .results = kResults,
                              .cost = test_cost,
                              .lower = test_lower};
  return kDef;
}

inline void lower_to_two_steps(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  test_lower(call, traits, steps);
  test_lower(call, traits, steps);
}

/// One node, two steps.
inline const OpDef& scale_op() {
  static constexpr Operand kOperands[] = {{"x"}, {"weight"}};
  static constexpr Operand kResults[] = {{"y", Access::write}};
  static constexpr OpDef kDef{.name = "scale",
                              .operands = kOperands,
                              .results = kResults,
                              .cost = test_cost,
                              .lower = lower_to_two_steps};
  return kDef;
}

struct GraphOptions {
  std::string name = "decode", scope = "layer", input_name = "x";
  const char* file = "model.cpp";  // a literal, as in every SourceLocation
  std::int64_t columns = 96;
  std::size_t scales = 0;  // nodes of scale_op() before the last
  std::vector<StateFieldInfo> state_fields{
      {"token", StateOwner::host, DType::i32, 0, 0, ""},
      {"pos", StateOwner::carried, DType::i32, 1, 0, ""},
      {"next", StateOwner::derived, DType::i32, 2, 0, "pos + 1"}};
  std::function<void(ComputeGraph&)> edit{};  // before it is planned
};

/// h = norm(x, weight) in layer.3/attn at a dynamic position, s = add(h, x) in layer.3, and
/// y = norm(s, weight) at a constant one, after any number of s = scale(s, weight). State fields:
/// token (host), pos (carried).
class GraphMaker {
 public:
  explicit GraphMaker(GraphOptions options) : options_(std::move(options)) {}

  std::shared_ptr<const ExecutionPlan> make() {
    ComputeGraph& g = graph_;
    g.name = options_.name;
    g.state_fields = options_.state_fields;
    const TensorSpec row({2, options_.columns}, DType::f32);
    const std::uint32_t x = tensor(row, TensorRole::input, options_.input_name);
    const std::uint32_t weight =
        tensor({{options_.columns}, DType::f32}, TensorRole::param, "attn_norm");
    const std::uint32_t state = tensor({{3}, DType::i32}, TensorRole::state, "");
    g.state_tensor = state;
    const std::uint32_t h = tensor(row, TensorRole::activation, "");
    std::uint32_t s = tensor(row, TensorRole::activation, "");
    const std::uint32_t y = tensor(row, TensorRole::output, "logits");
    const std::uint32_t layer = g.names.scope(0, options_.scope, 3);
    const std::uint32_t attn = g.names.scope(layer, "attn", -1);
    NormAttributes dynamic;
    dynamic.position = StateField{1, DType::i32};
    node(norm_op(), attn, 10, dynamic, {x, weight, h, state});
    node(add_op(), layer, 11, char{}, {h, x, s});
    for (std::size_t i = 0; i < options_.scales; ++i) {
      const std::uint32_t scaled = tensor(row, TensorRole::activation, "");
      node(scale_op(), layer, 13, char{}, {s, weight, scaled});
      s = scaled;
    }
    NormAttributes constant;
    constant.centred = false;
    constant.position = 5;
    node(norm_op(), 0, 12, constant, {s, weight, y, state});
    if (options_.edit) {
      options_.edit(g);
    }
    return std::make_shared<const ExecutionPlan>(
        make_plan(std::make_shared<const ComputeGraph>(std::move(g)), {}));
  }

 private:
  std::uint32_t tensor(const TensorSpec& spec, TensorRole role, const std::string& name) {
    ComputeGraph& g = graph_;
    Storage storage;
    storage.bytes = spec.bytes();
    storage.input = role == TensorRole::input;
    storage.output = role == TensorRole::output;
    if (role == TensorRole::param || role == TensorRole::state) {
      storage.origin = StorageOrigin::caller;
    }
    g.storages.push_back(storage);
    GraphTensor tensor;
    tensor.spec = spec;
    tensor.role = role;
    tensor.storage = static_cast<std::uint32_t>(g.storages.size() - 1);
    tensor.name = name.empty() ? 0 : g.names.intern(name);
    g.tensors.push_back(tensor);
    return static_cast<std::uint32_t>(g.tensors.size() - 1);
  }

  template <class A>
  void node(const OpDef& op, std::uint32_t scope, std::uint32_t line, const A& attributes,
            std::initializer_list<std::uint32_t> tensors) {
    ComputeGraph& g = graph_;
    Node node;
    node.op = &op;
    node.where = {options_.file, "forward", line};
    node.scope = scope;
    node.first_use = static_cast<std::uint32_t>(g.uses.size());
    node.attributes = static_cast<std::uint32_t>(g.attributes.size());
    node.attribute_bytes = sizeof(A);
    node.use_count = static_cast<std::uint8_t>(tensors.size());
    const auto bytes = std::as_bytes(std::span(&attributes, 1));
    g.attributes.insert(g.attributes.end(), bytes.begin(), bytes.end());
    std::uint8_t slot = 0;
    for (const std::uint32_t t : tensors) {
      g.uses.push_back({t, slot, slot == 2 ? Access::write : Access::read});
      ++slot;
    }
    g.nodes.push_back(node);
  }

  const GraphOptions options_;
  ComputeGraph graph_;
};

inline RunInfo run_info(const std::string& app, const std::string& label,
                        std::vector<std::string> arguments = {}) {
  RunInfo run;
  run.app = app;
  run.label = label;
  run.arguments = std::move(arguments);
  return run;
}

inline DeviceInfo test_device(const std::string& name = "Test GPU") {
  DeviceInfo device;
  device.backend = "vulkan";
  device.name = name;
  device.type = "discrete";
  device.timestamp_valid_bits = 64;
  device.timestamp_period_ns = 1.5;
  device.limits = {{"maxComputeSharedMemorySize", 49152}};
  device.features = {{"shaderFloat16", true}};
  return device;
}

inline constexpr std::array<std::uint32_t, 3> kTestSpirv{0x07230203, 1, 2};

/// One session that records `graph` with its arena. Returns the id of the recording.
inline std::uint64_t send_recording(ProfileSink& sink, std::shared_ptr<const ExecutionPlan> graph) {
  const std::uint64_t session = sink.next_id();
  const std::uint64_t arena = sink.next_id();
  const std::uint64_t id = sink.next_id();
  sink.send(BufferRecord{arena, "arena of decode", "device", graph->arena_bytes, 40});
  RecordingRecord recording;
  recording.id = id;
  recording.session = session;
  recording.kernels = {{Kernel{"norm", {64, 2}, 2}, {{64, 1, 1}, 8, kTestSpirv, 99}}};
  recording.pool_buffers = {arena, 0, 0};
  recording.record_ns = 1;
  recording.plan_ns = 2;
  recording.encode_ns = 3;
  recording.time_ns = 50;
  recording.plan = std::move(graph);
  sink.send(std::move(recording));
  SessionRecord record;
  record.id = session;
  record.recorded = true;
  record.name = "decode";
  record.begin_ns = 30;
  record.end_ns = 60;
  record.ops = 3;
  record.outcome = "finished";
  sink.send(record);
  return id;
}

/// A recording, and `replays` replays after a warm-up.
inline std::uint64_t send_run(ProfileSink& sink, std::shared_ptr<const ExecutionPlan> graph,
                              std::uint32_t replays) {
  const std::uint64_t id = send_recording(sink, std::move(graph));
  for (std::uint32_t r = 0; r <= replays; ++r) {
    ReplayRecord replay;
    replay.recording = id;
    replay.sequence = r;
    replay.submission = r + 100;
    replay.submit_time_ns = 1000 + r;
    replay.submit_ns = r == 0 ? 1'000'000 : 100 + r;
    replay.device_ns = r == 0 ? 1'000'000 : 5000 + r;
    replay.warm_up = r == 0;
    replay.timing_mode = TimingMode::replay;
    const std::array<std::uint32_t, 3> state{r, 0x01020304, 0xFFFFFFFF};
    replay.state = state;
    sink.replay(replay);
  }
  return id;
}

}  // namespace reprise::test
