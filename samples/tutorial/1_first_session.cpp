// Step 1 of docs/tutorial: the feed-forward part of a decoder layer, run once.
#include <cstdio>
#include <vector>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

using reprise::Device, reprise::DType, reprise::Recorder, reprise::Tensor;

constexpr std::int64_t kDim = 8, kHidden = 16;

struct Layer {
  Tensor norm, gate, up, down;
};

static Layer make_layer(const Device& device) {
  return {.norm = device.ones({kDim}, DType::f32, "norm"),
          .gate = device.normal({kHidden, kDim}, DType::f32, 1, 0, 0.3, "gate"),
          .up = device.normal({kHidden, kDim}, DType::f32, 2, 0, 0.3, "up"),
          .down = device.normal({kDim, kHidden}, DType::f32, 3, 0, 0.3, "down")};
}

static Tensor feed_forward(Recorder& s, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const Tensor h = rms_norm(s, x, w.norm, {.eps = 1e-5F});
  const Tensor gate = matmul(s, h, w.gate);
  const Tensor up = matmul(s, h, w.up);
  return add(s, x, matmul(s, silu_mul(s, gate, up), w.down));
}

int main(int argc, char** argv) try {
  const Device device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device);
  const Layer layer = make_layer(device);

  auto session = executor.begin({.name = "first"});
  const Tensor x = session.input("x", {1, kDim}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  session.output("y", feed_forward(session, layer, x));
  const reprise::FinishResult result = session.finish();

  std::printf("y:");
  for (const float value : result.read("y")) {
    std::printf(" %.2f", value);
  }
  std::printf("\n%u ops, %u submission\n", result.report.ops, result.report.submits);

  auto second = executor.begin({.name = "mistake"});
  try {
    const Tensor row = second.input("row", {1, kDim}, std::vector<float>(kDim, 1));
    (void)matmul(second, row, layer.down);  // needs rows of 16 elements
  } catch (const reprise::Error& error) {
    std::printf("%s\n", reprise::printable_lines(error.what()).c_str());
  }
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
