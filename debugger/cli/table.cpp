#include "debugger/cli/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "debugger/cli/terminal.h"
#include "debugger/model/printable.h"

namespace reprise::cli {
namespace {

using debugger::printable;

constexpr std::size_t kMaxCharacters = 48;
constexpr std::size_t kMinCharacters = 8;
constexpr std::size_t kSpace = 2;  // between columns
constexpr std::size_t kDots = 3;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

/// Where the character of that number begins.
std::size_t offset_of(const std::string& text, std::size_t character) {
  std::size_t i = 0;
  for (std::size_t seen = 0; i < text.size() && (!begins_character(text[i]) || seen++ < character);
       ++i) {
  }
  return i;
}

/// With "..." where something is missing, within `most` characters and these three.
std::string cut(const std::string& text, std::size_t max, Holds holds) {
  const std::size_t whole = characters(text);
  if (whole <= max) {
    return text;
  }
  return holds == Holds::paths ? "..." + text.substr(offset_of(text, whole - max))
                               : text.substr(0, offset_of(text, max)) + "...";
}

}  // namespace

void Table::add(const std::vector<std::string>& row) {
  std::vector<std::string>& cells = rows_.emplace_back();
  for (const std::string& text : row) {
    cells.push_back(cut(printable(text), kMaxCharacters, columns_[cells.size()].holds));
  }
}

std::vector<std::size_t> Table::widths(std::size_t max) const {
  std::vector<std::size_t> widths;
  std::size_t sum = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(characters(columns_[c].name));
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], characters(row[c]));
    }
    sum += widths[c] + (c == 0 ? 0 : kSpace);
  }
  while (sum > max) {  // the widest text gives way; numbers stay whole
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].holds != Holds::numbers && (widest == nullptr || widths[c] > *widest)) {
        widest = &widths[c];
      }
    }
    if (widest == nullptr || *widest <= kMinCharacters) {
      break;
    }
    --*widest;
    --sum;
  }
  return widths;
}

void Table::print() const { print(terminal_width()); }

void Table::print(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths(width);
  const auto print_line = [&](const auto& text_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& whole = text_of(c);
      const std::string text =
          characters(whole) > widths[c] ? cut(whole, widths[c] - kDots, columns_[c].holds) : whole;
      const std::string space(widths[c] - characters(text), ' ');
      line += std::string(c == 0 ? 0 : kSpace, ' ');
      line += columns_[c].holds == Holds::numbers ? space + text : text + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  };
  print_line([&](std::size_t c) -> const std::string& { return columns_[c].name; });
  for (const auto& row : rows_) {
    print_line([&](std::size_t c) -> const std::string& { return row[c]; });
  }
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string number(double value, int digits) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string microseconds(std::optional<std::uint64_t> ns) {
  return ns ? number(static_cast<double>(*ns) / 1e3, 1) : "";
}

}  // namespace reprise::cli
