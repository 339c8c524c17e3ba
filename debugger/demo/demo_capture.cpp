#include "debugger/demo/demo_capture.h"

#include <cmath>
#include <vector>

#include "debugger/demo/soft_limit.h"

namespace reprise::debugger {
namespace {

constexpr std::int64_t kVocabulary = 128, kDim = 48, kHeads = 4, kHidden = 96, kContext = 96;
constexpr std::int32_t kLayers = 4, kTokens = 64, kScaled = 1;
constexpr std::int32_t kWatchedEvery = 9;    // launches
constexpr std::int32_t kTimedAsAWhole = 12;  // replays, for the cost of timing each node

struct Layer {
  Tensor attn_norm, wq, wk, wv, wo, ffn_norm, gate, up, down, k_cache, v_cache;
};

/// What the later run changed.
struct Changes {
  std::int32_t slow_layer = -1;  // computes its hidden layer twice
  Lookup lookup = Lookup::index;
  float factor = 1;  // of the output of the layer kScaled
};

class Decoder {
 public:
  Decoder(const Device& device, const Changes& changes)
      : device_(device),
        changes_(changes),
        limit_(compile_soft_limit(device, changes.lookup)),
        embedding_(weight(kVocabulary, kDim, "embedding")),
        gain_(device.full({1, kDim}, DType::f32, static_cast<double>(changes.factor), "gain")) {
    for (std::int32_t i = 0; i < kLayers; ++i) {
      layers_.push_back({norm(), weight(kDim, kDim, "wq"), weight(kDim, kDim, "wk"),
                         weight(kDim, kDim, "wv"), weight(kDim, kDim, "wo"), norm(),
                         weight(kHidden, kDim, "gate"), weight(kHidden, kDim, "up"),
                         weight(kDim, kHidden, "down"), cache("k_cache"), cache("v_cache")});
    }
  }

  /// One token to the next; the input `bias` is added before the head.
  void step(GraphSession& s) const {
    Tensor x = get_rows(s, embedding_, s.state("token"));
    for (std::int32_t i = 0; i < kLayers; ++i) {
      const auto scope = s.scope("layer", i);
      x = layer(s, i, x);
    }
    const auto scope = s.scope("head");
    x = add(s, x, s.input("bias", {1, kDim}, std::vector<float>(kDim)));
    x = soft_limit(s, limit_, x, s.state("pos"));
    const Tensor logits = matmul(s, rms_norm(s, x, {}), embedding_);
    const Tensor next = argmax(s, logits);
    advance(s, next,
            {.position = s.state("pos"),
             .token = s.state("token"),
             .done = s.state("done"),
             .rows = s.state("rows"),
             .end_token = -1});
    s.output("logits", logits);
  }

 private:
  Tensor weight(std::int64_t rows, std::int64_t cols, const char* name) {
    return device_.normal({rows, cols}, DType::f32, ++seed_, 0,
                          1 / std::sqrt(static_cast<double>(cols)), name);
  }
  Tensor norm() const { return device_.full({kDim}, DType::f32, 1, "norm"); }
  Tensor cache(const char* name) const {
    return device_.zeros({kContext, kHeads, kDim / kHeads}, DType::f32, name);
  }

  Tensor layer(GraphSession& s, std::int32_t index, const Tensor& x) const {
    const Layer& l = layers_[static_cast<std::size_t>(index)];
    const Tensor h = add(s, x, attend(s, l, rms_norm(s, x, l.attn_norm)));
    const auto scope = s.scope("ffn");
    Tensor y = feed_forward(s, l, rms_norm(s, h, l.ffn_norm));
    if (index == changes_.slow_layer) {
      const auto again = s.scope("again");
      y = scale(s, add(s, y, feed_forward(s, l, rms_norm(s, h, l.ffn_norm))), {.scale = 0.5F});
    }
    if (index == kScaled) {
      y = mul(s, y, gain_);
    }
    return add(s, h, y);
  }

  static Tensor attend(GraphSession& s, const Layer& l, const Tensor& x) {
    const auto scope = s.scope("attn");
    const auto heads = [&](const Tensor& w) {
      return reshape(s, matmul(s, x, w), {1, kHeads, kDim / kHeads});
    };
    const auto pos = s.state("pos");
    set_rows(s, l.k_cache, rope(s, heads(l.wk), {.position = pos}), {.position = pos});
    set_rows(s, l.v_cache, heads(l.wv), {.position = pos});
    const Tensor y = attention(s, rope(s, heads(l.wq), {.position = pos}), l.k_cache, l.v_cache,
                               {.kv_len = s.state("kv_len")});
    return matmul(s, reshape(s, y, {1, kDim}), l.wo);
  }

  static Tensor feed_forward(GraphSession& s, const Layer& l, const Tensor& x) {
    const Tensor up = matmul(s, x, l.up);
    return matmul(s, silu_mul(s, matmul(s, x, l.gate), up), l.down);
  }

  Device device_;
  Changes changes_;
  CustomKernel limit_;
  std::uint64_t seed_ = 0;
  Tensor embedding_, gain_;
  std::vector<Layer> layers_;
};

StateBlock fresh_state(const Device& device) {
  StateLayout layout;
  layout.host("rows", 1).carried("pos").carried("token", 7).carried("done");
  return {device, layout.derived("kv_len", field("pos") + field("rows"))};
}

/// Decodes; the last launches, of which one is watched, may have a bias that is no number.
void decode(GraphExecutor& executor, const Decoder& decoder, bool ends_in_nan) {
  const StateBlock state = fresh_state(executor.device());
  auto session = executor.begin_recorded({.name = "decode", .state = state});
  decoder.step(session);
  CapturedGraph graph = session.finish().graph;
  graph.set_timing(TimingMode::replay);
  for (std::int32_t i = 1; i < kTokens; ++i) {
    if (i == kTimedAsAWhole) {
      graph.set_timing(TimingMode::node);
    }
    if (ends_in_nan && i + kWatchedEvery >= kTokens) {
      graph.set_input("bias", std::vector<float>(kDim, NAN));
    }
    graph.launch();
    const float logit = graph.read("logits")[0];
    if (std::isfinite(logit)) {  // counters take nothing else
      executor.count("logits[0]", static_cast<double>(logit));
    }
  }
}

void record_run(const std::filesystem::path& database, const std::string& label,
                const Changes& changes) {
  const Device device = open_device("cpu");
  const bool changed = changes.slow_layer >= 0;
  GraphExecutor executor(device, {.profile = database, .run = {.app = "demo", .label = label}});
  executor.set_watches({{.tensors = "layer.*/ffn/*", .every = kWatchedEvery, .contents = true},
                        {.every = kWatchedEvery, .contents = true, .not_finite = true}});
  decode(executor, Decoder(device, changes), changed);
  if (changed) {  // node by node beside the run before it
    const auto capture = [&](const Changes& of) {
      const StateBlock state = fresh_state(device);
      const Decoder decoder(device, of);
      return executor
          .capture([&](GraphSession& s) { decoder.step(s); }, {.name = "decode", .state = state})
          .graph;
    };
    CapturedGraph now = capture(changes);
    CapturedGraph before = capture({.slow_layer = changes.slow_layer});
    (void)compare_numerics(now, before);
  }
  executor.shutdown();
}

std::filesystem::path source_root() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

}  // namespace

DemoCapture record_demo(const std::filesystem::path& folder) {
  const DemoCapture files{folder / "before.db", folder / "after.db", source_root()};
  for (const std::filesystem::path& file : {files.before, files.after}) {
    if (std::filesystem::exists(file)) {
      throw_invalid_argument("The demo is not recorded into a file that exists (", file.string(),
                             ").");
    }
  }
  record_run(files.before, "before", {});
  record_run(files.after, "after", {.slow_layer = 2, .lookup = Lookup::search, .factor = 1.001F});
  return files;
}

}  // namespace reprise::debugger
