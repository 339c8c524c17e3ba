// `reprise db export`: what it writes where, and a graph that Graphviz accepts. trace_test.cpp has
// the traces.
#include <fstream>

#include "debugger/cli/db_commands.h"
#include "framework/profile/capture_reader.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using test::error_of;
using test::printed;
using test::write_run;

class ExportCommandTest : public test::TimedDatabase {
 protected:
  std::string dot() {
    return printed([&] { cli::export_capture({path(), {}, "", "-"}); });
  }
};

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

TEST_F(ExportCommandTest, APageOfADamagedGraphHasABarForEachNodeThatCanBeRead) {
  write_run(path_);
  ASSERT_EQ(test::sql(path_, "DELETE FROM nodes WHERE idx=1"), "");
  const std::string page = printed([&] { cli::export_capture({.path = path(), .html = "-"}); });
  std::size_t bars = 0;
  for (std::size_t at = page.find("class=\"bar\""); at != std::string::npos;
       at = page.find("class=\"bar\"", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, read_capture(path_, {1, 1}).nodes.size());
}

TEST_F(ExportCommandTest, WhatCannotBeWrittenIsSaid) {
  write_run(path_);
  EXPECT_EQ(error_of([&] {
              cli::export_capture({path(), {}, "/nonexistent/x.json", ""});
            }),
            "The file (/nonexistent/x.json) cannot be written: No such file or directory.");
  const std::filesystem::path out = folder_ / "graph.dot";
  cli::export_capture({path(), {}, "", out.string()});
  std::ifstream file(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), dot());
}

TEST_F(ExportCommandTest, GraphsWithoutStepTimesAreNoReplay) {
  write_run(path_, {.mode = TimingMode::off});
  EXPECT_EQ(error_of([&] {
              cli::export_capture({path(), {.graph = 1}, "-", ""});
            }),
            "There are no step times of graph (1) to export; `reprise db replays` lists its "
            "replays, for --replay.");
}

TEST_F(ExportCommandTest, ARunIsNotAlsoAReplay) {
  write_run(path_);
  cli::ExportCommand command{path(), {.replay = 1}, "-", ""};
  command.run = 1;
  EXPECT_EQ(error_of([&] { cli::export_capture(command); }),
            "--run (1) is for whole runs; leave out --graph and --replay.");
}

TEST_F(ExportCommandTest, ARunIsNotOneGraph) {
  write_run(path_);
  for (const auto file :
       {&cli::ExportCommand::dot, &cli::ExportCommand::svg, &cli::ExportCommand::html}) {
    cli::ExportCommand command{path(), {}, ""};
    command.*file = "-";
    command.run = 1;
    EXPECT_EQ(error_of([&] { cli::export_capture(command); }),
              "--run (1) is for --perfetto alone; --dot, --svg and --html show one graph, which "
              "--graph or --replay names.");
  }
}

TEST_F(ExportCommandTest, UnknownRunsAreNamed) {
  write_run(path_);
  cli::ExportCommand command{path(), {}, (folder_ / "trace.json").string(), ""};
  command.run = 9;
  EXPECT_EQ(
      error_of([&] { cli::export_capture(command); }),
      "The profiling database (" + path() + ") has no run (9); `reprise db info` lists them.");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.json"));
}

}  // namespace
}  // namespace reprise
