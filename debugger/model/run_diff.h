// Two runs beside each other: graphs by their names, nodes by scope, op and what they compute their
// results from, then by how many like it come before, and how long each took. Times of different
// timing modes are not compared.
#pragma once
#include <filesystem>
#include <set>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct NodeSide {
  std::uint32_t node = 0;                          // of its graph
  std::size_t times = 0;                           // that were kept one by one
  std::optional<std::uint64_t> median_ns, p95_ns;  // of the kept times, or of the statistics
};

/// A node that both graphs have, or one.
struct NodeDiff {
  std::string op, scope;
  std::optional<NodeSide> a, b;
  std::optional<double> ratio;        // of the medians, b to a
  std::optional<double> probability;  // of the rank test; empty if too few times were kept
  std::vector<std::string> changes;   // "kernel matmul_f16 to matmul_q8_0": see node_changes.h
};

struct GraphDiff {
  std::string name;
  std::optional<std::int64_t> graph_a, graph_b;
  std::optional<std::uint64_t> device_a_ns, device_b_ns;  // medians over replays, warm-ups left out
  std::vector<NodeDiff> nodes;                            // as in a, then what only b has
  std::set<TimingMode> modes_a{}, modes_b{};              // of replays, warm-ups left out
};

struct CaptureOfFile {
  std::filesystem::path path;
  CaptureId id;
  bool operator==(const CaptureOfFile&) const = default;
};

/// Throws as read_capture.
GraphDiff diff_captures(const CaptureOfFile& a, const CaptureOfFile& b,
                        const std::stop_token& stop = {});

struct RunOfFile {
  std::filesystem::path path;
  std::optional<std::int64_t> run;  // empty: the latest with a graph
};

/// What was compared, with the runs filled in.
struct RunDiff {
  RunOfFile a, b;
  std::vector<GraphDiff> graphs;  // of a in the order of its file, then those that only b has
};

/// Throws invalid_argument if a file has no such run, or no graph has its name in both; io as the
/// readers.
RunDiff diff_runs(const RunOfFile& a, const RunOfFile& b, const std::stop_token& stop = {});

}  // namespace reprise::debugger
