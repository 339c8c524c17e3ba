// A table: as wide as its texts, which are cut where they are too long, and no wider than the
// terminal it is printed on if its texts can be cut further.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::cli {

/// Numbers stand right and stay whole; paths are cut at their beginning, texts at their end.
enum class Holds : std::uint8_t { texts, numbers, paths };

struct Column {
  std::string name;
  Holds holds = Holds::texts;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One text per column, made printable.
  void add(const std::vector<std::string>& row);
  void print() const;
  /// In that many characters, if cutting texts to 8 makes it fit.
  void print(std::size_t width) const;

 private:
  std::vector<std::size_t> widths(std::size_t max) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string number(std::uint64_t value);
/// With that many digits after the point.
std::string number(double value, int digits);
/// Nanoseconds as microseconds; empty without one.
std::string microseconds(std::optional<std::uint64_t> ns);

}  // namespace reprise::cli
