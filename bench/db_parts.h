// What `reprise-bench db` measures, a question each; README.md says what the keys mean.
#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace reprise::bench {

struct DbArguments {
  long long nodes = 500, replays = 1'000, reps = 9, graphs = 10'000, rate = 2'000, seconds = 10;
  std::string part{};  // only this one
};

/// What handing a replay to the writer costs the thread that completed it.
nlohmann::ordered_json measure_hand_over(const DbArguments& a);
/// CPU time of the writer and bytes of the file, beside plain SQLite.
nlohmann::ordered_json measure_writing(const DbArguments& a);
/// How long quantiles of every node and lists of many graphs take.
nlohmann::ordered_json measure_reading(const DbArguments& a);
/// How long a reader waits while replays are written.
nlohmann::ordered_json measure_live_reading(const DbArguments& a);

}  // namespace reprise::bench
