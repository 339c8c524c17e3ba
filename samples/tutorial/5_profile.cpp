// Step 5 of docs/tutorial: the same text, with every replay and node timed into a database.
// usage: 5_profile MODEL PROMPT DATABASE [DEVICE]
#include <cstdio>

#include "generate.h"
#include "model_file.h"
#include "reprise/core/printable.h"

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: 5_profile MODEL PROMPT DATABASE [DEVICE]\n");
    return 2;
  }
  const auto file = reprise::GgufFile::open(argv[1]);
  const reprise::Tokenizer tokenizer(file);
  const auto device = reprise::open_device(argc > 4 ? argv[4] : "auto");
  reprise::GraphExecutor executor(device,
                                  {.profile = argv[3], .timing = reprise::TimingMode::node});
  const tutorial::Model model = tutorial::load_model(device, file, 256);
  const std::string text = tutorial::generate(executor, model, tokenizer, argv[2], 64);
  executor.shutdown();  // everything is in the file now
  std::printf("%s%s\n", argv[2], reprise::printable_lines(text).c_str());
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
