// Prefill and decoding share a reprise::StateBlock, so decoding goes on where the prefill stopped.
// The next token stays on the device: the host launches ahead and reads results later. Every step
// is timed; `reprise db top decode_loop.db` shows the slowest first.
#include <cmath>
#include <cstdio>
#include <deque>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

using reprise::Device, reprise::DType, reprise::Recorder, reprise::Tensor;
constexpr std::int64_t kVocabulary = 64, kDim = 32, kContext = 64;
struct Model {
  Tensor embedding, wq, wk, wv, k_cache, v_cache;
};

static Tensor weight(const Device& device, std::int64_t rows, float phase, const char* name) {
  std::vector<float> values(static_cast<std::size_t>(rows * kDim));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(phase * static_cast<float>(i + 1));
  }
  return device.from_host({rows, kDim}, values, name);
}

/// One layer of attention over the cache, then the most likely token.
static Tensor step(Recorder& s, const Model& m, const Tensor& x) {
  const std::int64_t rows = x.shape().dim(0);
  const auto heads = [&](const Tensor& y) { return reshape(s, y, {rows, 1, kDim}); };
  const auto pos = s.state("pos");
  set_rows(s, m.k_cache, heads(matmul(s, x, m.wk)), {.position = pos});
  set_rows(s, m.v_cache, heads(matmul(s, x, m.wv)), {.position = pos});
  const auto y = attention(s, heads(matmul(s, x, m.wq)), m.k_cache, m.v_cache, {.past = pos});
  const auto last = slice(s, add(s, x, reshape(s, y, {rows, kDim})), 0, rows - 1, 1);
  auto next = argmax(s, matmul(s, last, m.embedding));
  advance(s, next,
          {.position = pos,
           .token = s.state("token"),
           .done = s.state("done"),
           .rows = x.shape().extent(0),
           .end_token = -1});
  return next;
}

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(
      device, {.profile = "decode_loop.db", .timing = reprise::TimingMode::node});
  const Model m{weight(device, kVocabulary, 0.37F, "embedding"),
                weight(device, kDim, 0.71F, "wq"),
                weight(device, kDim, 0.13F, "wk"),
                weight(device, kDim, 0.29F, "wv"),
                device.zeros({kContext, 1, kDim}, DType::f32, "k_cache"),
                device.zeros({kContext, 1, kDim}, DType::f32, "v_cache")};
  const reprise::StateBlock state(
      device, reprise::StateLayout().carried("pos").carried("token").carried("done"));
  auto prefill = executor.begin_recorded({.name = "prefill", .state = state});
  const auto ids = prefill.input("ids", {5}, std::vector<std::int32_t>{3, 14, 15, 9, 26});
  prefill.output("next", step(prefill, m, get_rows(prefill, m.embedding, ids)));
  std::printf("%d\n", prefill.finish().read<std::int32_t>("next")[0]);
  auto decode = executor.begin_recorded({.name = "decode", .state = state});
  decode.output("next", step(decode, m, get_rows(decode, m.embedding, decode.state("token"))));
  auto first = decode.finish({.slots = 4});
  std::printf("%d\n", first.read<std::int32_t>("next")[0]);
  std::deque<reprise::Ticket> tickets;  // launched and not read yet, at most one per slot
  for (int launched = 0; launched < 30 || !tickets.empty();) {
    if (launched < 30 && tickets.size() < first.graph.slots()) {
      tickets.push_back(first.graph.launch_async());
      ++launched;
    } else {
      std::printf("%d\n", tickets.front().read<std::int32_t>("next")[0]);
      tickets.pop_front();
    }
  }
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
