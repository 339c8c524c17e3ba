// A table on a terminal: as wide as its texts, which are cut where they are too long.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::cli {

struct Column {
  std::string name;
  bool right = false;  // numbers
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One text per column, made printable.
  void add(const std::vector<std::string>& row);
  void print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string number(std::uint64_t value);
/// With that many digits after the point.
std::string number(double value, int digits);
/// Nanoseconds as microseconds; empty without one.
std::string microseconds(std::optional<std::uint64_t> ns);

}  // namespace reprise::cli
