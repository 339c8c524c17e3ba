// write_capture full FILE NODES REPLAYS | live FILE NODES
// Writes the databases that the tests of the window open: a large one, or one that grows. `live`
// reads numbers, writes as many replays for each, and repeats the number once they are committed.
#include <iostream>
#include <string>

#include "bench/full_capture.h"
#include "bench/synthetic_replays.h"

int main(int argc, char** argv) try {
  const std::string kind = argc < 2 ? "" : argv[1];
  if (kind == "full" && argc == 5) {
    reprise::bench::write_full_capture(argv[2], std::stoul(argv[3]), std::stoul(argv[4]));
  } else if (kind == "live" && argc == 4) {
    reprise::bench::SyntheticReplays run(argv[2], std::stoul(argv[3]));
    std::cout << "ready" << std::endl;
    for (std::size_t replays = 0; std::cin >> replays;) {
      run.write(replays, reprise::TimingMode::node);
      std::cout << replays << std::endl;
    }
  } else {
    std::cerr << "usage: write_capture full FILE NODES REPLAYS | live FILE NODES\n";
    return 2;
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
