// The check of traces finds what is broken: each of these begins with a sound trace.
#include "tests/profile_cli/trace_check.h"

#include <functional>
#include <sstream>

#include "debugger/cli/perfetto.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using nlohmann::json;

class TraceCheckTest : public test::TimedDatabase {
 protected:
  void SetUp() override {
    test::write_run(path_);
    std::ostringstream out;
    cli::write_perfetto(path(), {}, out);
    trace_ = json::parse(out.str());
    expected_ = test::nodes_to_trace(path_);
  }
  /// The first event of that phase with a name.
  json& event(const std::string& phase, const std::string& name = "") {
    for (json& event : trace_["traceEvents"]) {
      if (event["ph"] == phase && (name.empty() || event["name"] == name)) {
        return event;
      }
    }
    throw std::invalid_argument("no event of phase " + phase + " named " + name);
  }
  void remove(const json& gone) {
    json& events = trace_["traceEvents"];
    events.erase(std::find(events.begin(), events.end(), json(gone)));
  }
  std::string first_problem() const {
    const auto problems = test::trace_problems(trace_, expected_);
    return problems.empty() ? "none" : problems.front();
  }
  json trace_;
  test::TracedNodes expected_;
};

TEST_F(TraceCheckTest, FindsNothingInASoundTrace) { EXPECT_EQ(first_problem(), "none"); }

TEST_F(TraceCheckTest, FindsATrackWithoutAName) {
  remove(event("M", "thread_name"));
  EXPECT_EQ(first_problem(), "a track has no name");
}

TEST_F(TraceCheckTest, FindsAProcessWithoutItsRank) {
  event("M", "process_name")["args"]["name"] = "host";
  EXPECT_EQ(first_problem(), "a process has no name with its rank");
}

TEST_F(TraceCheckTest, FindsABeginOutOfOrder) {
  event("X", "scale")["ts"] = 0;
  EXPECT_EQ(first_problem(), "scale begins before what comes before it on its track");
}

TEST_F(TraceCheckTest, FindsATimeBeforeTheTrace) {
  event("X", "prepare")["ts"] = -1;
  EXPECT_EQ(first_problem(), "prepare begins before the trace");
}

TEST_F(TraceCheckTest, FindsSlicesThatOverlap) {
  json& add = event("X", "add");
  add["dur"] = add["dur"].get<double>() + 1;
  EXPECT_EQ(first_problem(), "scale overlaps add on queue");
}

TEST_F(TraceCheckTest, FindsANodeThatOutlastsItsReplay) {
  event("X", "decode 0")["dur"] = 1;
  EXPECT_EQ(first_problem(), "layer.3 overlaps decode 0 on queue");
}

TEST_F(TraceCheckTest, FindsAMissingNode) {
  remove(event("X", "scale"));
  EXPECT_EQ(first_problem(), "node 2 of replay 1 is missing");
}

TEST_F(TraceCheckTest, FindsANodeThatIsThereTwice) {
  event("X", "scale")["args"]["node"] = 1;
  EXPECT_EQ(first_problem(), "scale is twice in replay 1");
}

TEST_F(TraceCheckTest, FindsANodeWithoutItsSource) {
  event("X", "scale")["args"].erase("source");
  EXPECT_EQ(first_problem(), "scale lacks its source");
}

TEST_F(TraceCheckTest, FindsAMissingReplay) {
  expected_.try_emplace(99);
  EXPECT_EQ(first_problem(), "replay 99 is missing");
}

TEST_F(TraceCheckTest, FindsAForeignReplay) {
  expected_.erase(2);
  EXPECT_EQ(first_problem(), "replay 2 is none of the run");
}

TEST_F(TraceCheckTest, FindsAnArrowWithoutAnEnd) {
  remove(event("f"));
  EXPECT_EQ(first_problem(), "the arrow 1 has not one begin and one end");
}

TEST_F(TraceCheckTest, FindsAnArrowToOtherWork) {
  event("f")["ts"] = event("f")["ts"].get<double>() + 1;
  EXPECT_EQ(first_problem(), "the arrow 1 does not lead to the work of its replay");
}

TEST_F(TraceCheckTest, FindsAnArrowFromElsewhere) {
  event("s")["ts"] = 0;
  EXPECT_EQ(first_problem(), "the arrow 1 does not come from the submit of its replay");
}

TEST_F(TraceCheckTest, FindsAnArrowBackInTime) {
  event("s")["ts"] = event("f")["ts"].get<double>() + 1;
  EXPECT_EQ(first_problem(), "the arrow 1 leads back in time");
}

TEST_F(TraceCheckTest, FindsACounterThatGoesBack) {
  const json sample{{"ph", "C"},      {"pid", 1},  {"tid", 0},
                    {"name", "heap"}, {"ts", 5.0}, {"args", {{"value", 1}}}};
  json earlier = sample;
  earlier["ts"] = 4.0;
  trace_["traceEvents"].push_back(sample);
  trace_["traceEvents"].push_back(earlier);
  EXPECT_EQ(first_problem(), "the counter heap goes back");
}

TEST_F(TraceCheckTest, FindsWhatIsNoTrace) {
  trace_.erase("traceEvents");
  EXPECT_NE(first_problem(), "none");
}

}  // namespace
}  // namespace reprise
