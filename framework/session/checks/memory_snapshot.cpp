#include "framework/session/checks/memory_snapshot.h"

#include <algorithm>

namespace reprise {

MemorySnapshot::~MemorySnapshot() {
  for (const auto& [buffer, pieces] : buffers_) {
    for (const auto& [begin, bytes] : pieces) {
      try {
        device_.write(buffer, begin, bytes);
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is lost or freed
      }
    }
  }
}

void MemorySnapshot::add(const std::shared_ptr<Buffer>& buffer, std::uint64_t begin,
                         std::uint64_t end) {
  Pieces& pieces = buffers_[buffer];
  auto next = std::ranges::find_if(
      pieces, [&](const auto& piece) { return piece.first + piece.second.size() > begin; });
  while (begin < end) {
    const std::uint64_t gap_end = next == pieces.end() ? end : std::min(end, next->first);
    if (begin < gap_end) {
      std::vector<std::byte> bytes(gap_end - begin);
      device_.read(buffer, begin, bytes);
      pieces.emplace_hint(next, begin, std::move(bytes));
    }
    if (next == pieces.end()) {
      return;
    }
    begin = next->first + next->second.size();
    ++next;
  }
}

void MemorySnapshot::restore() const {
  for (const auto& [buffer, pieces] : buffers_) {
    for (const auto& [begin, bytes] : pieces) {
      device_.write(buffer, begin, bytes);
    }
  }
}

}  // namespace reprise
