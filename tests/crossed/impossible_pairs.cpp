// The pairs of features that cannot meet, and why.
#include <algorithm>
#include <string_view>

#include "tests/crossed/features.h"

namespace reprise::crossed {
namespace {

/// "how: run", or a whole axis, "how".
using Names = std::vector<std::string_view>;

struct Rule {
  Names a, b;
  const char* why;
};

const std::vector<Rule>& rules() {
  static const Names executable{
      "how: run",       "how: submit",     "how: prepared",       "how: slots",
      "how: pipelined", "before: fork",    "before: compile",     "feed: copy",
      "feed: swap",     "feed: in_place",  "handles: device",     "handles: host",
      "handles: bound", "experts: placed", "experts: on the cpu", "given: table"};
  static const Names sessions{
      "how: direct",   "how: parts",    "how: submitted",  "how: captured", "how: launched",
      "how: async",    "how: prefix",   "how: cached",     "how: keyed",    "how: loaded",
      "how: rebound",  "how: pooled",   "before: prewarm", "before: lint",  "before: verify",
      "before: moved", "before: reset", "feed: by host",   "handles: none", "executors: two"};
  static const Names again{"iterations: two", "iterations: three"};
  static const Names extent{"rows: none", "rows: some", "rows: full"};
  static const std::vector<Rule> all{
      {executable, sessions, "a program runs by sessions or by an executable graph"},
      {{"feed: swap"}, again, "refused: the host would swap once"},
      {{"experts: on the cpu"}, again, "refused: misses are host steps"},
      {executable, {"write: input"}, "inputs of executable graphs may be handles' memory"},
      {{"experts: on the cpu"}, extent, "refused: misses are host steps"},
      {{"experts: none"}, {"op: experts"}, "the feature is that there are none"},
      {{"threads"}, {"device: portable", "device: lanes", "device: gpu"}, "threads of the CPU"},
      {{"rows: fixed"}, extent, "shapes of a program are fixed or not"},
      {extent, {"op: host_step"}, "refused: the host would call it for no rows"},
      {extent, {"write: input"}, "tables have fixed shapes"},
      {again, {"op: host_step"}, "refused: the device alone knows which iterations run"},
      {again, {"feed: by host"}, "the host feeds between launches"},
      {{"inputs: padded"}, {"rows: fixed"}, "inputs have the rows of the bucket"},
      {{"experts: on the cpu"}, {"inputs: padded"}, "shapes are fixed"},
      {{"op: host_step", "write: input"}, {"inputs: padded"}, "shapes are fixed"},
      {again, {"how: prefix"}, "refused"},
      {{"feed: none"}, {"feed: by host", "feed: copy", "feed: swap"}, "there are none"},
      {{"feed: copy"}, {"feed: swap"}, "a program has one such feed"},
      {{"feed: in_place"}, {"write: nothing"}, "it is written"},
      {{"pattern: rope_set_rows"}, {"write: nothing"}, "rows are written"},
      {{"how: prefix"}, {"feed: by host"}, "its outputs are not read"},
      {{"how: loaded"}, {"op: host_step"}, "functions of the program's own cannot be saved"},
      {{"how: pooled"}, {"op: host_step"}, "host steps cut a submission"},
      {{"how: prefix"},
       {"passes: dead_nodes", "passes: reorder", "passes: fuse", "passes: exact"},
       "the last node may not be the last that runs"},
      {{"stop: field"}, {"how: prefix", "how: submitted"}, "they run whatever the field says"},
      {{"stop: field"}, {"feed: swap"}, "refused: the host would swap all the same"},
      {{"write: nothing"},
       {"write", "op: set_rows", "op: accumulate"},
       "the feature is that there are none"},
      {{"op: advance"}, {"view"}, "it is given what argmax returns"},
  };
  return all;
}

bool contains(const Names& names, std::string_view feature) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    return feature == name || feature.substr(0, feature.find(':')) == name;
  });
}

}  // namespace

std::string why_never(Feature a, Feature b) {
  const std::string first = feature_name(a), second = feature_name(b);
  for (const Rule& rule : rules()) {
    if ((contains(rule.a, first) && contains(rule.b, second)) ||
        (contains(rule.b, first) && contains(rule.a, second))) {
      return rule.why;
    }
  }
  return "";
}

}  // namespace reprise::crossed
