#include "bench/networks.h"

#include <cmath>

#include "framework/core/known_names.h"
#include "reprise/ops/attention.h"
#include "reprise/ops/binary.h"
#include "reprise/ops/conv.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/layer_norm.h"
#include "reprise/ops/matmul.h"
#include "reprise/ops/movement.h"
#include "reprise/ops/pool.h"
#include "reprise/ops/reduce.h"
#include "reprise/ops/softmax.h"
#include "reprise/ops/unary.h"
#include "reprise/ops/views.h"
#include "reprise/session/device.h"

namespace reprise::bench {
namespace {

class Network {
 public:
  Network(GraphSession& session, const Device& device) : s_(session), device_(device) {}
  std::uint64_t weight_bytes() const { return bytes_; }

  void speech() {
    constexpr std::int64_t kBands = 80, kFrames = 3000, kDim = 384;
    Tensor x =
        gelu(s_, conv_1d(s_, given({kBands, kFrames}), weight({kDim, kBands, 3}), {.padding = 1}));
    x = gelu(s_, conv_1d(s_, x, weight({kDim, kDim, 3}), {.stride = 2, .padding = 1}));
    x = copy(s_, permute(s_, x, {1, 0}));
    s_.output("y", layers(x, 4, 6));
  }

  void vision() {
    constexpr std::int64_t kPixels = 224, kPatch = 16, kDim = 384;
    const Tensor patches =
        conv_2d(s_, given({3, kPixels, kPixels}), weight({kDim, 3, kPatch, kPatch}),
                {.stride_y = kPatch, .stride_x = kPatch});
    const std::int64_t count = (kPixels / kPatch) * (kPixels / kPatch);
    const Tensor rows = copy(s_, permute(s_, reshape(s_, patches, {kDim, count}), {1, 0}));
    const Tensor x = concat(s_, weight({1, kDim}), rows, 0);
    const Tensor y = layers(add(s_, x, weight({count + 1, kDim})), 6, 6);
    s_.output("y", matmul(s_, slice(s_, y, 0, 0, 1), weight({1000, kDim}), weight({1000})));
  }

  void residual() {
    Tensor x = convolved(given({3, 224, 224}), 64, 7, 2, 3);
    x = pool_2d(
        s_, relu(s_, x),
        {.height = 3, .width = 3, .stride_y = 2, .stride_x = 2, .padding_y = 1, .padding_x = 1});
    for (const std::int64_t channels : {64, 64, 128, 128, 256, 256}) {
      x = block(x, channels);
    }
    const std::int64_t pixels = x.shape().dim(1) * x.shape().dim(2), channels = x.shape().dim(0);
    const Tensor means = reshape(s_, mean(s_, reshape(s_, x, {channels, pixels})), {1, channels});
    s_.output("y", matmul(s_, means, weight({1000, channels}), weight({1000})));
  }

  void padded() {
    constexpr std::int64_t kSequences = 8, kRows = 128, kDim = 256, kHeads = 8;
    constexpr std::int64_t kHead = kDim / kHeads;
    std::vector<float> mask(kSequences * kRows);
    for (std::int64_t i = 0; i < kSequences * kRows; ++i) {  // sequences of 16, 32, .. 128 rows
      const bool there = i % kRows < (i / kRows + 1) * kRows / kSequences;
      mask[static_cast<std::size_t>(i)] = there ? 0.0F : -INFINITY;
    }
    const Tensor seen = device_.from_host({kSequences, 1, 1, kRows}, mask, "mask");
    Tensor x = given({kSequences * kRows, kDim});
    for (int layer = 0; layer < 4; ++layer) {
      const Tensor h = layer_norm(s_, x, weight({kDim}), weight({kDim}));
      const auto heads = [&](const Tensor& rows, std::initializer_list<std::size_t> axes) {
        return copy(s_, permute(s_, reshape(s_, rows, {kSequences, kRows, kHeads, kHead}), axes));
      };
      const Tensor q = heads(dense(h, kDim), {0, 2, 1, 3}), k = heads(dense(h, kDim), {0, 2, 1, 3});
      const Tensor v = heads(dense(h, kDim), {0, 2, 3, 1});
      const Tensor scores = add(s_, matmul(s_, q, k), seen);
      const Tensor weights =
          softmax(s_, scores, {.scale = 1.0F / std::sqrt(static_cast<float>(kHead))});
      const Tensor mixed = copy(s_, permute(s_, matmul(s_, weights, v), {0, 2, 1, 3}));
      x = add(s_, x, dense(reshape(s_, mixed, {kSequences * kRows, kDim}), kDim));
      x = feed_forward(x);
    }
    s_.output("y", x);
  }

 private:
  Tensor given(const Shape& shape) { return device_.normal(shape, DType::f32, 1, 0, 1, "x"); }
  Tensor weight(const Shape& shape) {
    bytes_ += TensorSpec(shape, DType::f32).bytes();
    const float spread = 1.0F / std::sqrt(static_cast<float>(shape.elements() / shape.dim(0)));
    return device_.normal(shape, DType::f32, ++seed_, 0, spread, "w");
  }
  Tensor dense(const Tensor& x, std::int64_t columns) {
    return matmul(s_, x, weight({columns, x.shape().back()}), weight({columns}));
  }
  Tensor feed_forward(const Tensor& x) {
    const std::int64_t dim = x.shape().back();
    const Tensor h = layer_norm(s_, x, weight({dim}), weight({dim}));
    return add(s_, x, dense(gelu(s_, dense(h, 4 * dim)), dim));
  }
  Tensor layers(Tensor x, int count, std::int64_t heads) {
    const std::int64_t rows = x.shape().dim(0), dim = x.shape().back();
    for (int layer = 0; layer < count; ++layer) {
      const Tensor h = layer_norm(s_, x, weight({dim}), weight({dim}));
      const auto part = [&] { return reshape(s_, dense(h, dim), {rows, heads, dim / heads}); };
      const Tensor q = part(), k = part(), v = part();
      const Tensor mixed = attention(s_, q, k, v, {.causal = false});
      x = feed_forward(add(s_, x, dense(reshape(s_, mixed, {rows, dim}), dim)));
    }
    return layer_norm(s_, x, weight({dim}), weight({dim}));
  }
  Tensor convolved(const Tensor& x, std::int64_t outputs, std::int64_t size, std::int32_t stride,
                   std::int32_t padding) {
    const Tensor y = conv_2d(
        s_, x, weight({outputs, x.shape().dim(0), size, size}),
        {.stride_y = stride, .stride_x = stride, .padding_y = padding, .padding_x = padding});
    return add(s_, y, weight({outputs, 1, 1}));
  }
  Tensor block(const Tensor& x, std::int64_t channels) {
    const bool same = x.shape().dim(0) == channels;
    const std::int32_t stride = same ? 1 : 2;
    const Tensor h = relu(s_, convolved(x, channels, 3, stride, 1));
    const Tensor past = same ? x : convolved(x, channels, 1, stride, 0);
    return relu(s_, add(s_, convolved(h, channels, 3, 1, 1), past));
  }

  GraphSession& s_;
  const Device& device_;
  std::uint64_t bytes_ = 0, seed_ = 1;
};

struct Entry {
  const char* name;
  void (Network::*record)();
};
constexpr Entry kNetworks[] = {{"speech", &Network::speech},
                               {"vision", &Network::vision},
                               {"residual", &Network::residual},
                               {"padded", &Network::padded}};

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kNetworks) {
    names.emplace_back(entry.name);
  }
  return names;
}

std::uint64_t record_network(GraphSession& session, const Device& device, std::string_view name) {
  for (const Entry& entry : kNetworks) {
    if (entry.name == name) {
      Network network(session, device);
      (network.*entry.record)();
      return network.weight_bytes();
    }
  }
  throw_unknown_name("The bench", "network", name, names_of(network_names()));
}

}  // namespace reprise::bench
