// How long every node took in every replay of a range, one by one: what sums over nodes need, whose
// quantiles are not sums of quantiles.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <vector>

#include "debugger/model/document_reads.h"

namespace reprise::debugger {

struct ReplayTimes {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::size_t nodes = 0, replays = 0;
  std::size_t asked = 0;          // for how many replays; more than were read if the file has not
                                  // all of their times, or they are a sample
  std::vector<std::uint64_t> ns;  // by replay, then node; kNone without a time
  std::span<const std::uint64_t> of(std::size_t replay) const {
    return std::span(ns).subspan(replay * nodes, nodes);
  }
};

/// Throws as the readers.
ReplayTimes read_replay_times(const std::filesystem::path& path, const RangeKey& key,
                              const std::stop_token& stop);

}  // namespace reprise::debugger
