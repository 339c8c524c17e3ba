#include "tests/session/extent_passes.h"

#include "reprise/backend/backend.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kHeads = 3, kDim = 8, kColumns = kHeads * kDim, kResults = 40;
constexpr std::int64_t kCells = kResults / kDim;  // weights as matrices of experts

std::vector<float> random_floats(std::mt19937_64& rng, std::int64_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = uniform(rng);
  }
  return values;
}

std::vector<std::int32_t> random_ids(std::mt19937_64& rng, std::int64_t count, std::int64_t below) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::int32_t& id : ids) {
    id = static_cast<std::int32_t>(rng() % static_cast<std::uint64_t>(below));
  }
  return ids;
}

Tensor heads_of(GraphSession& s, const Tensor& x) {
  return reshape(s, x, {x.shape().extent(0), kHeads, kDim});
}

ExtentInputs declare(GraphSession& s, const Extent& rows) {
  return {s.input("x", {rows, kColumns}), s.input("y", {rows, kColumns}),
          s.input("ids", {rows}, DType::i32)};
}

}  // namespace

Device extent_device(const std::string& name) {
  const std::string prefix = "vulkan_";
  if (!name.starts_with(prefix)) {
    return test_device(name);
  }
  for (const KernelFamily family :
       {KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu}) {
    if (name.substr(prefix.size()) == name_of(family)) {
      return test_device("vulkan", {}, family);
    }
  }
  throw_invalid_argument("There is no family of kernels (" + name + ").");
}

ExtentRuns::ExtentRuns(const Device& device, std::uint64_t seed)
    : device_(device),
      executor_(device),
      state_(device, StateLayout()
                         .host("rows", 1)
                         .carried("pos")
                         .derived("kv_len", field("pos") + field("rows"))
                         .derived("last", field("rows") + -1)) {
  std::mt19937_64 rng(seed);
  x_ = random_floats(rng, kBucket * kColumns);
  y_ = random_floats(rng, kBucket * kColumns);
  ids_ = random_ids(rng, kBucket, kResults);
  weights_ = device.from_host({kResults, kColumns}, random_floats(rng, kResults * kColumns), "w");
  scale_ = device.from_host({kColumns}, random_floats(rng, kColumns), "scale");
  bias_ = device.from_host({kResults}, random_floats(rng, kResults), "bias");
  embedding_ =
      device.from_host({kResults, kColumns}, random_floats(rng, kResults * kColumns), "embedding");
  keys_ = device.zeros({kContext, kHeads, kDim}, DType::f32, "keys");
  values_ = device.zeros({kContext, kHeads, kDim}, DType::f32, "values");
  half_keys_ = device.zeros({kContext, kHeads, kDim}, DType::f16, "half_keys");
  marks_ = device.zeros({kContext}, DType::i32, "marks");
  const std::vector<std::int32_t> cells = random_ids(rng, kColumns, kCells + 1);  // some nowhere
  cells_ = device.from_host({kColumns}, cells, "cells");
  table_bytes_ = random_bytes(rng, DType::f32, kContext * kColumns, -1, 1);
}

std::vector<ExtentPass> ExtentRuns::passes() const {
  return {
      {"elementwise",
       [this](GraphSession& s, const ExtentInputs& in) {
         s.output("sum", add(s, mul(s, in.x, scale_), silu_mul(s, in.x, in.y)));
         s.output("gate", gelu_mul(s, sub(s, in.x, scale_)));
         s.output("bounded", clamp(s, softcap(s, sigmoid(s, in.x), {.cap = 2}), {.min = 0.3F}));
         const Tensor columns = slice(s, in.y, 1, kDim, 2 * kDim);
         s.output("columns", copy(s, columns));
         s.output("turned", copy(s, permute(s, heads_of(s, in.x), {0, 2, 1})));
         s.output("half", cast(s, in.x, DType::f16));
         const Tensor wide = concat(s, in.x, slice(s, in.y, 1, 0, kDim), 1);
         s.output("wide", wide);
         s.output("blocks", cast(s, wide, DType::q8_0));
         s.output("repeated", repeat(s, in.y, {in.y.shape().extent(0), 3 * kColumns}));
         s.output("padded", pad(s, in.y, {.before = {0, 3}, .after = {0, 5}}));
       }},
      {"norm",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor y = rms_norm(s, add(s, in.x, in.y), scale_);
         s.output("norm", y);
         s.output("largest", argmax(s, y));
       }},
      {"whole_rows",
       [](GraphSession& s, const ExtentInputs& in) {
         s.output("layer_norm", layer_norm(s, in.x));
         s.output("l2_norm", l2_norm(s, in.x));
         s.output("softmax", softmax(s, in.x, {.mask = in.y}));
         s.output("logarithms", log_softmax(s, in.x));
         s.output("sums", sum_rows(s, in.x));
         s.output("means", mean(s, in.x));
         s.output("largest", max(s, in.x));
         s.output("running", cumsum(s, in.x));
         s.output("causal", causal_mask(s, in.x, {.n_past = 3}));
         s.output("order", argsort(s, in.x));
         s.output("top", top_k(s, in.x, {.k = 5}));
         s.output("drawn", sample(s, in.x, {.top_k = 9, .top_p = 0.8F, .position = 4}));
       }},
      {"matmul",
       [this](GraphSession& s, const ExtentInputs& in) {
         s.output("f32", matmul(s, in.x, weights_));
         s.output("f16", matmul(s, in.x, cast(s, weights_, DType::f16)));
         s.output("bias", matmul(s, in.x, weights_, bias_));
         const ProductGroup group =
             matmul_group(s, in.x, weights_, slice(s, weights_, 0, 3, 1), weights_);
         s.output("first", group.y0);
         s.output("row", group.y1);
         s.output("matrices", matmul(s, heads_of(s, in.y), reshape(s, scale_, {kHeads, kDim})));
       }},
      {"experts",
       [this](GraphSession& s, const ExtentInputs& in) {
         const RoutedExperts routed = route_top_k(s, in.x, {.k = kHeads});
         s.output("chosen", routed.ids);
         s.output("shares", routed.weights);
         const Tensor table = reshape(s, weights_, {kCells, kDim, kColumns});
         const Tensor x = reshape(s, in.x, {in.x.shape().extent(0), 1, kColumns});
         const Tensor y = matmul_experts(s, x, table, routed.ids, cells_, heads_of(s, in.y));
         s.output("products", y);
         const Tensor halves = cast(s, table, DType::f16);
         s.output("halves", matmul_experts(s, x, halves, routed.ids, cells_));
         s.output("combined", combine_experts(s, y, routed.weights));
       }},
      {"attention",
       [this](GraphSession& s, const ExtentInputs& in) {
         const auto pos = s.state("pos");
         const auto kv_len = s.state("kv_len");
         const Tensor x = rope(s, heads_of(s, in.x), {.position = pos});
         const Tensor y = heads_of(s, in.y);
         set_rows(s, keys_, x, {.position = pos});
         set_rows(s, values_, y, {.position = pos});
         set_rows(s, half_keys_, x, {.position = pos, .window = kContext});
         s.output("attention", attention(s, x, keys_, values_, {.kv_len = kv_len}));
         s.output("half", attention(s, y, half_keys_, half_keys_, {.kv_len = kv_len}));
       }},
      {"scored",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor sinks = slice(s, scale_, 0, 1, kHeads);
         const Tensor x = rope(s, heads_of(s, in.x),
                               {.scale = 0.5F, .extrapolation = 1, .ramp_last = 3, .magnitude = 2});
         s.output("scored", attention(s, x, keys_, values_,
                                      {.kv_len = s.state("kv_len"),
                                       .softcap = 3,
                                       .max_bias = 8,
                                       .window = 5,
                                       .sinks = sinks}));
       }},
      {"recurrent",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor taps = slice(s, reshape(s, weights_, {kColumns, kResults}), 1, 0, 4);
         const Tensor w = copy(s, taps);
         const Tensor last = reshape(s, slice(s, keys_, 0, 0, kHeads), {1, kColumns, 3});
         const Tensor x = ssm_conv(s, last, in.x, w, scale_, {}, {.past = s.state("pos")});
         s.output("conv", x);
         const Tensor steps = slice(s, in.y, 1, 0, kHeads);
         const Tensor betas = slice(s, in.x, 1, kHeads, kHeads);
         const Tensor groups = slice(s, heads_of(s, in.y), 1, 0, 1);
         const Tensor scanned = reshape(s, slice(s, values_, 0, 0, kDim), {1, kHeads, kDim, kDim});
         const Tensor a = reshape(s, slice(s, scale_, 0, 0, kHeads), {kHeads, 1});
         s.output("scan", ssm_scan(s, scanned, {heads_of(s, x), steps, a, groups, groups}));
         const Tensor kept = reshape(s, slice(s, keys_, 0, kHeads, kDim), {1, kHeads, kDim, kDim});
         const Tensor q = heads_of(s, in.y);
         s.output("delta", gated_delta(s, kept, {q, q, heads_of(s, x), steps, betas}));
       }},
      {"sliding",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor x = heads_of(s, in.x);
         const Tensor w = reshape(s, slice(s, weights_, 0, 0, kHeads), {kHeads, kHeads, kDim});
         s.output("conv", conv_1d(s, x, w, {.padding = 3}));
         const Tensor image = reshape(s, in.x, {in.x.shape().extent(0), 1, kHeads, kDim});
         s.output("image", conv_2d(s, image, reshape(s, w, {9, 1, 2, 4})));
         s.output("pool", pool_1d(s, in.y, {.width = 5, .stride = 2}));
         s.output("pools", pool_2d(s, x, {.mode = PoolMode::mean}));
         const Tensor square = slice(s, x, 2, 0, kHeads);
         s.output("solved", solve_triangular(s, square, x, {.unit = true}));
       }},
      {"fusible",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor square = slice(s, weights_, 0, 0, kColumns);
         const Tensor x = add(s, in.x, matmul(s, in.y, square));
         s.output("norm", rms_norm(s, add(s, x, in.y), scale_));
         const auto pos = s.state("pos");
         set_rows(s, keys_, rope(s, heads_of(s, x), {.position = pos}), {.position = pos});
         s.output("bias", add(s, matmul(s, x, weights_), bias_));
         s.output("first", matmul(s, x, weights_));
         s.output("second", matmul(s, x, square));
       }},
      {"rows",
       [this](GraphSession& s, const ExtentInputs& in) {
         const Tensor x = get_rows(s, embedding_, in.ids);
         s.output("rows", x);
         s.output("last", get_rows(s, x, s.state("last")));
         set_rows(s, reshape(s, keys_, {kContext, kColumns}), x, in.ids);
         set_rows(s, marks_, in.ids, {.position = s.state("pos")});  // a workgroup has many rows
       }},
  };
}

std::int32_t ExtentRuns::fewest_rows_of_same_kernels() const {
  const DeviceTraits& traits = device_.backend().traits();
  if (traits.runs_on_host || traits.kernels == KernelFamily::portable) {
    return 1;
  }
  return traits.kernels == KernelFamily::gpu ? 9 : 2;
}

std::vector<NamedInput> ExtentRuns::inputs(std::int64_t rows) const {
  const auto count = static_cast<std::size_t>(rows);
  const auto floats = [&](const std::vector<float>& all) {
    return std::span(all).first(count * static_cast<std::size_t>(kColumns));
  };
  return {{"x", floats(x_)}, {"y", floats(y_)}, {"ids", std::span(ids_).first(count)}};
}

ExtentRuns::Outputs ExtentRuns::tables() const {
  return {{"keys", device_.to_host(keys_)},
          {"values", device_.to_host(values_)},
          {"half_keys", device_.to_host(half_keys_)},
          {"marks", device_.to_host(marks_)}};
}

std::map<std::string, Tensor, std::less<>> ExtentRuns::tensors() const {
  return {{"w", weights_},           {"scale", scale_}, {"bias", bias_},
          {"embedding", embedding_}, {"keys", keys_},   {"values", values_},
          {"half_keys", half_keys_}, {"marks", marks_}, {"cells", cells_}};
}

void ExtentRuns::prepare(std::int32_t rows, std::int32_t position) {
  state_.set({{"rows", rows}, {"pos", position}});
  for (const Tensor* table : {&keys_, &values_, &half_keys_, &marks_}) {
    const TensorRef ref(*table);
    device_.write(ref->buffer, ref->offset, std::span(table_bytes_).first(ref.spec().bytes()));
  }
}

ExtentRuns::Outputs ExtentRuns::run(const ExtentPass& pass, bool fixed, std::int32_t rows,
                                    std::int32_t position) {
  prepare(rows, position);
  SessionOptions options{.name = pass.name, .state = state_, .inputs = inputs(rows)};
  if (!fixed) {
    options.extents = {{"rows", kBucket}};
  }
  auto session = executor_.begin(options);
  pass.record(session, declare(session, fixed ? Extent(rows) : session.extent("rows")));
  const FinishResult result = session.finish();
  Outputs outputs = tables();
  for (const auto& [name, output] : result.outputs().all()) {
    outputs[name] = output.bytes;
  }
  return outputs;
}

ExtentRuns::Outputs ExtentRuns::fixed(const ExtentPass& pass, std::int32_t rows,
                                      std::int32_t position) {
  return run(pass, true, rows, position);
}

ExtentRuns::Outputs ExtentRuns::direct(const ExtentPass& pass, std::int32_t rows,
                                       std::int32_t position) {
  return run(pass, false, rows, position);
}

CapturedGraph ExtentRuns::graph(const ExtentPass& pass, std::uint32_t max_iterations,
                                const PassOptions& passes) {
  auto session = executor_.begin_recorded({.name = pass.name,
                                           .state = state_,
                                           .max_iterations = max_iterations,
                                           .extents = {{"rows", kBucket}},
                                           .inputs = inputs(0)});
  pass.record(session, declare(session, session.extent("rows")));
  return session.finish({.passes = passes, .run = false}).graph;
}

ExtentRuns::Outputs ExtentRuns::replay(CapturedGraph& graph, std::int32_t rows,
                                       std::int32_t position) {
  prepare(rows, position);
  for (const NamedInput& input : inputs(rows)) {
    graph.set_input(input.name, input.dtype, input.bytes);
  }
  graph.launch();
  Outputs outputs = tables();
  for (const std::string& name : graph.output_names()) {
    outputs[name] = graph.read<std::byte>(name);
  }
  return outputs;
}

}  // namespace reprise::testing
