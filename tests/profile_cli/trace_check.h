// What a viewer relies on in a trace, and what an export of a database has to hold.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reprise::test {

/// The nodes with times of every replay that ran, as the readers of the database tell it.
using TracedNodes = std::map<std::int64_t, std::set<std::uint32_t>>;

/// Of a run; of the latest without one.
TracedNodes nodes_to_trace(const std::filesystem::path& database,
                           std::optional<std::int64_t> run = {});

/// One sentence for everything that is wrong, no more than a hundred: tracks without names, begins
/// out of order, slices that overlap without lying in each other, counters that go back, arrows
/// without an end or not from a submit to its work, and replays and nodes that are missing.
std::vector<std::string> trace_problems(const nlohmann::json& trace, const TracedNodes& expected);

}  // namespace reprise::test
