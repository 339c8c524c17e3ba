// Step 4 of docs/tutorial: the same decoder with the weights of a model file.
// usage: 4_model_file MODEL PROMPT [DEVICE]
#include <cstdio>

#include "generate.h"
#include "model_file.h"
#include "reprise/core/printable.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 4_model_file MODEL PROMPT [DEVICE]\n");
    return 2;
  }
  const auto file = reprise::GgufFile::open(argv[1]);
  const reprise::Tokenizer tokenizer(file);
  const auto device = reprise::open_device(argc > 3 ? argv[3] : "auto");
  reprise::GraphExecutor executor(device);
  const tutorial::Model model = tutorial::load_model(device, file, 256);
  const std::string text = tutorial::generate(executor, model, tokenizer, argv[2], 64);
  std::printf("%s%s\n", argv[2], reprise::printable_lines(text).c_str());
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
