// Prompts of any length through few recordings: one per bucket of lengths. Each serves every length
// up to its own, at the cost of that length.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "reprise/core/printable.h"
#include "samples/llama/generate.h"

using reprise::GraphSession;

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: prompt_buckets MODEL [DEVICE [DATABASE]]\n");
    return 2;
  }
  const auto device = reprise::open_device(argc > 2 ? argv[2] : "auto");
  reprise::GraphExecutor executor(
      device, {.profile = argc > 3 ? argv[3] : "", .timing = reprise::TimingMode::node});
  constexpr std::int64_t kBuckets[] = {8, 32, 128};
  constexpr std::int64_t kContext = 128;
  const auto file = reprise::GgufFile::open(argv[1]);
  const llama::Model model = llama::load_model(device, file, kContext);
  const reprise::StateBlock state(device, llama::state_layout(-1, kContext));
  const reprise::GraphOwner owner("prompts");
  reprise::GraphCache cache(executor);

  for (const std::int32_t length : {5, 8, 3, 20, 31, 100, 1, 128, 64}) {
    const std::int64_t bucket = *std::ranges::lower_bound(kBuckets, length);
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(length));
    std::iota(prompt.begin(), prompt.end(), 1);
    state.set({{"rows", length}, {"pos", 0}, {"done", 0}});
    const auto pass = [&](GraphSession& s) {
      const auto tokens = s.input("tokens", {s.extent("rows")}, reprise::DType::i32);
      const auto x = get_rows(s, model.embedding, tokens);
      s.output("next", llama::choose(s, llama::forward(s, model, x)));
    };
    const auto run = cache.run({.owner = owner, .tag = "prompt", .bucket = {bucket}}, pass,
                               {.name = "prompt",
                                .state = state,
                                .extents = {{"rows", bucket}},
                                .inputs = {{"tokens", prompt}}});
    std::printf("%3d tokens in a bucket of %3ld: %-8s next %d\n", length, static_cast<long>(bucket),
                std::string(name_of(run.how)).c_str(), run.read<std::int32_t>("next")[0]);
  }
  std::printf("%lu recordings\n", static_cast<unsigned long>(cache.counters().recorded));
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
