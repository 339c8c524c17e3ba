// `reprise db export`: a trace that viewers accept, and a graph that Graphviz does.
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "debugger/cli/db_commands.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using nlohmann::json;
using test::error_of;
using test::printed;
using test::write_run;

class ExportCommandTest : public test::TimedDatabase {
 protected:
  std::string perfetto() {
    return printed([&] { cli::export_capture({path(), {}, "-", ""}); });
  }
  std::string dot() {
    return printed([&] { cli::export_capture({path(), {}, "", "-"}); });
  }
};

double end_of(const json& slice) { return slice["ts"].get<double>() + slice["dur"].get<double>(); }

/// Slices of a track either lie in each other or apart, in the order of the file.
void expect_nested(const std::vector<json>& slices) {
  constexpr double kRounding = 1e-6;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_GE(slices[i]["ts"].get<double>(), 0);
    EXPECT_GE(slices[i]["dur"].get<double>(), 0);
    for (std::size_t k = i + 1; k < slices.size(); ++k) {
      const double begin = slices[k]["ts"].get<double>();
      const bool apart = begin >= end_of(slices[i]) - kRounding ||
                         end_of(slices[k]) <= slices[i]["ts"].get<double>() + kRounding;
      const bool inside = begin >= slices[i]["ts"].get<double>() - kRounding &&
                          end_of(slices[k]) <= end_of(slices[i]) + kRounding;
      EXPECT_TRUE(apart || inside) << slices[i].dump() << "\n" << slices[k].dump();
    }
  }
}

/// Does what a viewer relies on, whatever was recorded.
void check_trace(const json& trace, std::size_t nodes) {
  std::map<int, std::vector<json>> tracks;
  std::map<std::int64_t, std::pair<double, double>> arrows{};
  std::map<int, std::string> named;
  std::map<std::uint32_t, double> starts;  // by node
  double counted = -1;
  for (const json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") {
      named[event["pid"]] = event["args"]["name"];
    } else if (phase == "X") {
      tracks[event["tid"]].push_back(event);
      if (event["args"].contains("node")) {
        EXPECT_TRUE(starts.emplace(event["args"]["node"], event["ts"]).second);
      }
    } else if (phase == "s" || phase == "f") {
      auto& arrow = arrows.try_emplace(event["id"], -1, -1).first->second;
      (phase == "s" ? arrow.first : arrow.second) = event["ts"];
    } else {
      ASSERT_EQ(phase, "C");
      EXPECT_GE(event["ts"].get<double>(), counted);  // monotone
      counted = event["ts"];
    }
  }
  EXPECT_EQ(starts.size(), nodes);
  for (std::uint32_t n = 1; n < nodes; ++n) {
    EXPECT_GE(starts[n], starts[n - 1]);
  }
  EXPECT_FALSE(arrows.empty());
  for (const auto& [id, arrow] : arrows) {
    EXPECT_GE(arrow.first, 0) << "no begin of " << id;
    EXPECT_GE(arrow.second, arrow.first) << "no end of " << id;
  }
  for (const auto& [track, slices] : tracks) {
    EXPECT_TRUE(named.contains(track));
    expect_nested(slices);
  }
}

TEST_F(ExportCommandTest, TracesAreWhatViewersRelyOn) {
  write_run(path_, {.graph = {.scales = 30}});
  check_trace(json::parse(perfetto()), 33);
}

TEST_F(ExportCommandTest, TracesHoldWhatTheReplayDid) {
  write_run(path_, {.graph = {.scope = "a\"b\x1B", .scales = 0}});
  std::string text;
  const json trace = json::parse(perfetto());
  for (const json& event : trace["traceEvents"]) {
    text += event["ph"].get<std::string>() + " " + std::to_string(event["pid"].get<int>()) + " " +
            event["name"].get<std::string>();
    if (event.contains("ts")) {
      text += " " + event["ts"].dump();
    }
    if (event.contains("dur")) {
      text += "+" + event["dur"].dump();
    }
    text += " " + (event.contains("args") ? event["args"].dump() : "") + "\n";
  }
  EXPECT_EQ(text,
            "M 1 process_name {\"name\":\"host\"}\n"
            "M 1 thread_name {\"name\":\"launches\"}\n"
            "M 2 process_name {\"name\":\"Test GPU\"}\n"
            "M 2 thread_name {\"name\":\"queue\"}\n"
            "X 1 prepare 0.0+0.5 {}\n"
            "X 1 submit 0.5+1.5 {}\n"
            "X 1 wait 2.0+20.0 {}\n"
            "X 2 a\"b\x1B.3 2.0+3.0 {}\n"
            "X 2 a\"b\x1B.3/attn 2.0+1.0 {}\n"
            "X 2 norm 2.0+1.0 "
            "{\"duration_ns\":1000,\"gb_per_s\":1.92,\"label\":\"attn\",\"node\":0,\"scope\":"
            "\"a\\\"b\\u001b.3/attn\",\"source\":\"model.cpp:10\",\"tensors\":{\"state\":\"i32 "
            "[3]\",\"weight\":\"f32 [96]\",\"x\":\"f32 [2,96]\",\"y\":\"f32 [2,96]\"}}\n"
            "X 2 add 3.0+2.0 "
            "{\"duration_ns\":2000,\"gb_per_s\":1.152,\"label\":\"a\\\"b\\u001b.3\",\"node\":1,"
            "\"scope\":\"a\\\"b\\u001b.3\",\"source\":\"model.cpp:11\",\"tensors\":{\"a\":\"f32 "
            "[2,96]\",\"b\":\"f32 [2,96]\",\"y\":\"f32 [2,96]\"}}\n"
            "X 2 norm 5.0+3.0 "
            "{\"duration_ns\":3000,\"gb_per_s\":0.64,\"label\":\"\",\"node\":2,\"scope\":\"\","
            "\"source\":\"model.cpp:12\",\"tensors\":{\"state\":\"i32 [3]\",\"weight\":\"f32 "
            "[96]\",\"x\":\"f32 [2,96]\",\"y\":\"f32 [2,96]\"}}\n"
            "s 1 replay 1.25 \n"
            "f 2 replay 2.0 \n"
            "C 2 arena bytes in use 2.0 {\"bytes\":1536}\n"
            "C 2 arena bytes in use 3.0 {\"bytes\":2304}\n"
            "C 2 arena bytes in use 5.0 {\"bytes\":2304}\n");
}

TEST_F(ExportCommandTest, GraphsAreDrawnByScope) {
  write_run(path_);
  EXPECT_EQ(dot(),
            "digraph \"decode\" {\n"
            "  label=\"run 1, graph 1 'decode', replay 4\";\n"
            "  node [shape=box];\n"
            "  subgraph cluster_1 {\n"
            "    label=\"layer.3\";\n"
            "    subgraph cluster_2 {\n"
            "      label=\"attn\";\n"
            "      n0 [label=\"norm, 1.0 us\"];\n"
            "    }\n"
            "    n1 [label=\"add, 2.0 us\"];\n"
            "    n2 [label=\"scale, 7.0 us\"];\n"
            "  }\n"
            "  n3 [label=\"norm, 5.0 us\"];\n"
            "  n0 -> n1 [label=\"layer.3/attn/norm\"];\n"
            "  n1 -> n2 [label=\"layer.3/add\"];\n"
            "  n2 -> n3 [label=\"layer.3/scale\"];\n"
            "}\n");
}

TEST_F(ExportCommandTest, NamesCannotEndAString) {
  write_run(path_, {.graph = {.name = "x\"];\n\\", .scales = 0}});
  EXPECT_EQ(dot().substr(0, dot().find('\n')), "digraph \"x\\\"];?\\\\\" {");
}

TEST_F(ExportCommandTest, WhatCannotBeWrittenIsSaid) {
  write_run(path_);
  EXPECT_EQ(error_of([&] {
              cli::export_capture({path(), {}, "/nonexistent/x.json", ""});
            }),
            "The file (/nonexistent/x.json) cannot be written.");
  const std::filesystem::path out = folder_ / "graph.dot";
  cli::export_capture({path(), {}, "", out.string()});
  std::ifstream file(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), dot());
  const std::filesystem::path untimed = folder_ / "untimed.db";
  write_run(untimed, {.mode = TimingMode::off});
  EXPECT_EQ(error_of([&] {
              cli::export_capture({untimed.string(), {}, "-", ""});
            }),
            "There are no step times of graph (1) to export; `reprise db replays` says which "
            "replays have some.");
}

}  // namespace
}  // namespace reprise
