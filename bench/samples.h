// Measured values by name, and their medians.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace reprise::bench {

/// Samples by key.
class Samples {
 public:
  void add(const std::string& key, double value) { values_[key].push_back(value); }
  void clear() { values_.clear(); }
  bool has(const std::string& key) const { return values_.contains(key); }
  double median(const std::string& key) const {
    std::vector<double> list = values_.at(key);
    std::ranges::sort(list);
    const std::size_t middle = list.size() / 2;
    return list.size() % 2 == 1 ? list[middle] : (list[middle - 1] + list[middle]) / 2;
  }

 private:
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace reprise::bench
