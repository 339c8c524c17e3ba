// Measured values by name, and their medians.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace reprise::bench {

/// Samples by key.
class Samples {
 public:
  void add(const std::string& key, double value) { values_[key].push_back(value); }
  void clear() { values_.clear(); }
  bool has(const std::string& key) const { return values_.contains(key); }
  double median(const std::string& key) const { return summarize(values_.at(key)).median; }

 private:
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace reprise::bench
