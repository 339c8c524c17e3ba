// What passes change in a recorded graph, and that it computes the same bits.
// usage: graph_passes [profiling database]
#include <cstdio>

#include "reprise/reprise.h"

using reprise::GraphSession, reprise::PassOptions, reprise::RecordFunction, reprise::Tensor;

int main(int argc, char** argv) {
  const auto device = reprise::open_device("auto");
  reprise::GraphExecutor executor(device, {.profile = argc > 1 ? argv[1] : ""});
  const std::vector<float> values(16, 0.5F);
  const Tensor w = device.from_host({4, 4}, values, "w");

  const RecordFunction block = [&](GraphSession& s) {
    const Tensor x = s.input("x", {4, 4}, values);
    const Tensor left = mul(s, matmul(s, x, w), x);
    const Tensor right = silu_mul(s, matmul(s, x, w), x);  // need not wait for left
    (void)add(s, left, x);                                 // nobody reads it
    s.output("y", add(s, left, right));
  };
  for (const auto& [name, passes] :
       {std::pair("none", PassOptions::none()), std::pair("exact", PassOptions::exact())}) {
    auto session = executor.begin_recorded({.name = name});
    block(session);
    const auto report = session.finish({.passes = passes}).report;
    std::printf("%s: %u steps, %u barriers, %llu bytes of arena\n", name, report.steps,
                report.barriers, static_cast<unsigned long long>(report.arena_bytes));
  }
  const auto verified = verify(
      executor, block, {.session = {.name = "block"}, .finish = {.passes = PassOptions::exact()}});
  std::printf("verify: %s\n", verified.text().c_str());
}
