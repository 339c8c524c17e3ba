// Greedy text: the prompt in one direct session, then a recording, several tokens per launch.
#pragma once
#include <algorithm>
#include <string>

#include "decoder.h"
#include "reprise/formats/tokenizer.h"

namespace tutorial {

/// The text that follows the prompt: up to `count` tokens, or until the end token.
inline std::string generate(reprise::GraphExecutor& executor, const Model& m,
                            const reprise::Tokenizer& tokenizer, const std::string& prompt,
                            std::uint32_t count) {
  constexpr std::uint32_t kPerLaunch = 8;
  const reprise::StateBlock state(executor.device(), state_layout(m.sizes));
  std::string text;
  const auto add = [&](std::int32_t id, std::int32_t done) {
    text += done == 0 ? tokenizer.piece(id) : "";
  };

  const std::vector<std::int32_t> ids = tokenizer.encode(prompt);
  auto prefill = executor.begin({.name = "prefill", .state = state});
  const Tensor tokens = prefill.input("tokens", {static_cast<std::int64_t>(ids.size())}, ids);
  const Tensor x = get_rows(prefill, m.embedding, tokens);
  prefill.output("next", next_token(prefill, m, x, tokenizer.eos()));
  add(prefill.finish().read<std::int32_t>("next")[0], state.get("done"));

  auto decode =
      executor.begin_recorded({.name = "decode", .state = state, .max_iterations = kPerLaunch});
  decode_step(decode, m, tokenizer.eos());
  reprise::CapturedGraph graph = decode.finish({.run = false}).graph;
  for (std::uint32_t n = 1; n < count && state.get("done") == 0;) {
    graph.launch({.iterations = std::min(kPerLaunch, count - n)});
    for (std::uint32_t i = 0; i < graph.iterations(); ++i, ++n) {
      add(graph.read<std::int32_t>("next", i)[0], graph.state("done", i));
    }
  }
  return text;
}

}  // namespace tutorial
