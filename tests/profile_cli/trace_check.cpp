#include "tests/profile_cli/trace_check.h"

#include <algorithm>
#include <cmath>

#include "framework/profile/capture_reader.h"

namespace reprise::test {
namespace {

using nlohmann::json;

/// Nanoseconds: they are written with three digits after the microsecond.
std::int64_t ns(const json& event, const char* key) {
  return std::llround(event.at(key).get<double>() * 1000);
}

struct Slice {
  std::string name;
  std::int64_t begin = 0, end = 0;
  json args;
};

struct Moment {
  std::pair<int, int> track;
  std::int64_t time = 0;
};

struct Arrow {
  std::vector<Moment> from, to;
};

class Check {
 public:
  std::vector<std::string> problems;

  void read(const json& trace) {
    for (const json& event : trace.at("traceEvents")) {
      const std::string phase = event.at("ph");
      const std::string name = event.at("name");
      const std::pair<int, int> track(event.at("pid"), event.at("tid"));
      if (phase == "M") {
        (name == "process_name" ? processes_[track.first] : threads_[track]) =
            event.at("args").at("name");
        continue;
      }
      const std::int64_t time = ns(event, "ts");
      require(time >= 0, name + " begins before the trace");
      if (phase == "X") {
        const std::int64_t duration = ns(event, "dur");
        require(duration >= 0, name + " ends before it begins");
        in_order(track, time, name);
        slices_[track].push_back({name, time, time + duration, event.at("args")});
      } else if (phase == "i") {
        in_order(track, time, name);
      } else if (phase == "C") {
        const auto [last, first] = counters_.try_emplace({track.first, name}, time);
        require(last->second <= time, "the counter " + name + " goes back");
        last->second = time;
        require(event.at("args").at("value").is_number(), "the counter " + name + " is no number");
      } else if (phase == "s" || phase == "f") {
        Arrow& arrow = arrows_[event.at("id").get<std::int64_t>()];
        (phase == "s" ? arrow.from : arrow.to).push_back({track, time});
      } else {
        require(false, "unknown phase " + phase);
      }
    }
  }

  void check(const TracedNodes& expected) {
    for (const auto& [track, last] : begins_) {
      require(threads_.contains(track), "a track has no name");
      require(processes_.contains(track.first) && processes_[track.first].starts_with("rank "),
              "a process has no name with its rank");
    }
    for (const auto& [track, slices] : slices_) {
      check_nesting(track, slices);
    }
    check_arrows();
    check_replays(expected);
  }

 private:
  void require(bool true_of_traces, const std::string& problem) {
    if (!true_of_traces && problems.size() < 100) {
      problems.push_back(problem);
    }
  }

  void in_order(std::pair<int, int> track, std::int64_t time, const std::string& name) {
    std::int64_t& last = begins_[track];
    require(last <= time, name + " begins before what comes before it on its track");
    last = time;
  }

  void check_nesting(std::pair<int, int> track, const std::vector<Slice>& slices) {
    std::vector<const Slice*> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back()->end <= slice.begin) {
        open.pop_back();
      }
      require(open.empty() || slice.end <= open.back()->end,
              slice.name + " overlaps " + (open.empty() ? "" : open.back()->name) + " on " +
                  threads_[track]);
      if (slice.args.contains("node")) {
        const bool in_replay = !open.empty() && open.front()->args.contains("sequence");
        require(in_replay, slice.name + " is in no replay");
        if (in_replay) {
          add_node(open.front()->args.at("replay"), slice);
        }
      } else if (slice.args.contains("sequence")) {
        works_[slice.args.at("replay").get<std::int64_t>()] = {track, slice.begin};
        nodes_.try_emplace(slice.args.at("replay").get<std::int64_t>());
      }
      open.push_back(&slice);
    }
  }

  void add_node(std::int64_t replay, const Slice& slice) {
    require(nodes_[replay].insert(slice.args.at("node").get<std::uint32_t>()).second,
            slice.name + " is twice in replay " + std::to_string(replay));
    for (const char* key : {"scope", "label", "source", "tensors", "duration_ns"}) {
      require(slice.args.contains(key), slice.name + " lacks its " + key);
    }
  }

  bool in_submit(const Moment& moment, std::int64_t replay) const {
    const auto slices = slices_.find(moment.track);
    return slices != slices_.end() && std::ranges::any_of(slices->second, [&](const Slice& slice) {
             return slice.name == "submit" && slice.args.value("replay", -1) == replay &&
                    slice.begin <= moment.time && moment.time <= slice.end;
           });
  }

  void check_arrows() {
    for (const auto& [id, arrow] : arrows_) {
      const std::string name = "the arrow " + std::to_string(id);
      if (arrow.from.size() != 1 || arrow.to.size() != 1) {
        require(false, name + " has not one begin and one end");
        continue;
      }
      require(arrow.from[0].time <= arrow.to[0].time, name + " leads back in time");
      require(in_submit(arrow.from[0], id), name + " does not come from the submit of its replay");
      const auto work = works_.find(id);
      require(work != works_.end() && work->second.track == arrow.to[0].track &&
                  work->second.time == arrow.to[0].time,
              name + " does not lead to the work of its replay");
    }
    require(!arrows_.empty() || works_.empty(), "no arrow leads to the device");
  }

  void check_replays(const TracedNodes& expected) {
    for (const auto& [replay, nodes] : expected) {
      const auto found = nodes_.find(replay);
      require(found != nodes_.end(), "replay " + std::to_string(replay) + " is missing");
      for (const std::uint32_t node : nodes) {
        require(found == nodes_.end() || found->second.contains(node),
                "node " + std::to_string(node) + " of replay " + std::to_string(replay) +
                    " is missing");
      }
    }
    for (const auto& [replay, nodes] : nodes_) {
      require(expected.contains(replay),
              "replay " + std::to_string(replay) + " is none of the run");
    }
  }

  std::map<int, std::string> processes_;
  std::map<std::pair<int, int>, std::string> threads_;
  std::map<std::pair<int, int>, std::int64_t> begins_;  // of the last thing on a track
  std::map<std::pair<int, int>, std::vector<Slice>> slices_;
  std::map<std::pair<int, std::string>, std::int64_t> counters_;
  std::map<std::int64_t, Arrow> arrows_;
  std::map<std::int64_t, Moment> works_;  // of replays
  TracedNodes nodes_;
};

}  // namespace

TracedNodes nodes_to_trace(const std::filesystem::path& database, std::optional<std::int64_t> run) {
  TracedNodes expected;
  const std::vector<CaptureSummary> captures = read_captures(database);
  for (const CaptureSummary& summary : captures) {
    if (summary.id.run != run.value_or(captures.front().id.run)) {
      continue;
    }
    const Capture capture = read_capture(database, summary.id);
    ReplayTable table;
    read_new_replays(database, summary.id, table);
    std::vector<std::int64_t> ids;
    for (const ReplayRow& row : table.rows) {
      if (row.status != 1) {  // skipped iterations did nothing
        ids.push_back(row.id);
        expected.try_emplace(row.id);
      }
    }
    read_step_times(database, ids, capture.steps.size(),
                    [&](std::size_t position, std::span<const CapturedStepTime> times) {
                      for (std::size_t s = 0; s < times.size(); ++s) {
                        if (times[s].duration_ns && capture.steps[s].node) {
                          expected[ids[position]].insert(*capture.steps[s].node);
                        }
                      }
                    });
  }
  return expected;
}

std::vector<std::string> trace_problems(const json& trace, const TracedNodes& expected) {
  Check check;
  try {
    check.read(trace);
    check.check(expected);
  } catch (const json::exception& error) {
    check.problems.emplace_back(error.what());
  }
  return check.problems;
}

}  // namespace reprise::test
