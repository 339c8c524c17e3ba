// Text for several prompts at once: one executable graph, a fork per prompt.
#include <cstdio>

#include "reprise/core/printable.h"
#include "reprise/formats/tokenizer.h"
#include "samples/llama/executable.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: executable_llama MODEL DEVICE [PROMPT...]\n");
    return 2;
  }
  constexpr std::int64_t kContext = 256;
  constexpr std::size_t kTokens = 24;
  const auto device = reprise::open_device(argv[2]);
  reprise::GraphExecutor executor(device);
  const auto file = reprise::GgufFile::open(argv[1]);
  const reprise::Tokenizer tokenizer(file);
  const llama::Model model = llama::load_model(device, file, 1);
  const auto graph =
      llama::make_executable(executor, model, {.end_token = tokenizer.eos(), .context = kContext});

  std::vector<std::string> texts(argv + 3, argv + argc);
  if (texts.empty()) {
    texts = {"Once upon a time", "Nell was a brave fox who lived by the sea. Nell could not swim."};
  }
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::string& text : texts) {
    prompts.push_back(tokenizer.encode(text));
  }
  const auto generated = llama::generate_all(graph, prompts, kTokens);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::int32_t> all = prompts[i];
    all.insert(all.end(), generated[i].begin(), generated[i].end());
    std::printf("%s\n", reprise::printable_lines(tokenizer.decode(all)).c_str());
  }
  std::printf("%zu prompts, %zu recordings\n", texts.size(), graph.recordings());
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
