// A row of `reprise-bench llm`, under llama-bench's column names where it has them.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "framework/profile/profile_sink.h"

namespace reprise::bench {

struct LlmRow {
  BenchmarkRecord record{};  // mean and deviation in nanoseconds and in tokens per second
  DeviceInfo device{};
  std::string model_filename{}, mode{};
  std::vector<double> samples_ts{};  // tokens per second, one per record.samples_ns
  double q1_ts = 0, q3_ts = 0;
};

nlohmann::ordered_json to_json(const LlmRow& row);

/// Prints rows as they come in one of the formats md, json, csv, sql; JSON is an array.
class LlmPrinter {
 public:
  LlmPrinter(std::ostream& out, std::string format);
  void row(const LlmRow& row);
  void end();

 private:
  std::ostream& out_;
  std::string format_;
  bool first_ = true;
};

}  // namespace reprise::bench
