// Which features a program has, and how often each pair of them met.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/crossed/program.h"

namespace reprise::crossed {

/// A number; feature_name() has its text, "op: matmul".
using Feature = std::size_t;
std::size_t feature_count();
std::string feature_name(Feature feature);

/// A pair of features, the smaller number first.
using Pair = std::pair<Feature, Feature>;
/// All pairs that meet in a program. A view meets an op where that is called with it.
std::vector<Pair> pairs_of(const Program& program);

/// Why two features cannot meet; empty if they can.
std::string why_never(Feature a, Feature b);

class PairTable {
 public:
  PairTable();
  void add(const Program& program);
  /// How many pairs of a program did not meet before.
  std::size_t new_pairs(const Program& program) const;
  /// "op: matmul and how: loaded"; of those that can.
  std::vector<std::string> never_met() const;
  /// Those that met though why_never() says that they cannot.
  std::vector<std::string> met_against_reason() const;
  /// How many can meet, how many did, the rarest: for people.
  std::string summary() const;

 private:
  std::uint32_t at(const Pair& pair) const;
  std::vector<std::uint32_t> counts_;
};

}  // namespace reprise::crossed
