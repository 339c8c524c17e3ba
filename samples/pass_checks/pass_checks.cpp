// A step that writes a row of a ring and reads it back, once with the position as a number of the
// host, which a recording bakes, and once with the position in the state: what lint() and verify()
// say about both.
#include <cstdio>

#include "reprise/reprise.h"

using reprise::GraphSession, reprise::RecordFunction, reprise::Tensor;

int main() {
  const auto device = reprise::open_device("auto");
  reprise::GraphExecutor executor(device);
  const Tensor ring = device.zeros({8, 4}, reprise::DType::f32, "ring");
  const std::vector<float> x{1, 2, 3, 4};
  const reprise::StateBlock state(device, reprise::StateLayout().host("pos"));
  std::int32_t pos = 0;

  const RecordFunction baked = [&](GraphSession& s) {
    set_rows(s, ring, s.input("x", {1, 4}, x), {.position = pos});
    s.output("row", copy(s, slice(s, ring, 0, pos, 1)));
  };
  const RecordFunction dynamic = [&](GraphSession& s) {
    set_rows(s, ring, s.input("x", {1, 4}, x), {.position = s.state("pos")});
    s.output("row", get_rows(s, ring, s.state("pos")));
  };
  // Each run sets what the host would have set before some launch of the graph.
  const auto at = [&](std::int32_t position) {
    return [&, position] {
      pos = position;
      state.set("pos", position);
    };
  };
  for (const RecordFunction* pass : {&baked, &dynamic}) {
    const auto linted = lint(executor, *pass, {{.name = "step", .state = state}, {at(2), at(5)}});
    std::printf("lint: %s\n", linted.text().c_str());
    // A direct run, the first run of a recording, and a replay, all from the same memory.
    const auto verified = verify(executor, *pass, {.session = {.name = "step", .state = state}});
    std::printf("verify: %s\n", verified.text().c_str());
  }
}
