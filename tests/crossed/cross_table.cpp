#include "tests/crossed/cross_table.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "tests/crossed/features.h"

namespace reprise::crossed {
namespace {

struct Way {
  const char *name, *column, *feature;
};

const std::vector<Way>& states() {
  static const std::vector<Way> all{
      {"extents", "ext", "rows: some"},
      {"iterations", "iter", "iterations: two"},
      {"experts on a budget", "exp", "experts: placed"},
      {"kernels of your own", "ker", "op: custom"},
      {"host steps", "host", "op: host_step"},
      {"feeds that swap", "swap", "feed: swap"},
      {"feeds that copy", "copy", "feed: copy"},
      {"forks", "fork", "before: fork"},
      {"saved and loaded", "file", "how: loaded"},
      {"passes", "pass", "passes: fuse"},
      {"lint", "lint", "before: lint"},
      {"verify", "verif", "before: verify"},
      {"node times", "node", "timing: node"},
      {"memory that is not mapped", "unm", "memory: copied"},
      {"direct sessions", "dir", "how: direct"},
  };
  return all;
}

Feature feature_named(std::string_view name) {
  for (Feature feature = 0; feature < feature_count(); ++feature) {
    if (feature_name(feature) == name) {
      return feature;
    }
  }
  throw std::logic_error("no feature '" + std::string(name) + "'");
}

const Cell* cell_of(const Way& a, const Way& b) {
  const auto it = std::ranges::find_if(cells(), [&](const Cell& cell) {
    const std::string_view first = cell.a, second = cell.b;
    return (first == a.name && second == b.name) || (first == b.name && second == a.name);
  });
  return it == cells().end() ? nullptr : &*it;
}

/// Texts of the notes below the table, numbered as they come.
class Notes {
 public:
  std::string number(const std::string& note) {
    const auto [it, fresh] = numbers_.try_emplace(note, numbers_.size() + 1);
    if (fresh) {
      text_ += std::to_string(it->second) + ". " + note + "\n";
    }
    return std::to_string(it->second);
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::string text_;
};

std::string mark(const Way& a, const Way& b, Notes& notes) {
  if (const Cell* cell = cell_of(a, b)) {
    const std::string text = cell->text;
    switch (cell->meeting) {
      case Meeting::works:
        return "yes";
      case Meeting::refused:
        return "no " + notes.number("Refused: \"" + text + "\".");
      case Meeting::none:
        return "– " + notes.number(text + ".");
    }
  }
  const std::string why = why_never(feature_named(a.feature), feature_named(b.feature));
  if (!why.empty()) {
    throw std::logic_error(std::string(a.name) + " and " + b.name + ": " + why);
  }
  return "yes";
}

}  // namespace

std::string cross_table() {
  Notes notes;
  std::string head = "| |", line = "|---|", rows;
  for (const Way& a : states()) {
    head += std::string(" ") + a.column + " |";
    line += ":---:|";
    rows += std::string("| ") + a.name + " |";
    for (const Way& b : states()) {
      rows += &b < &a ? " " + mark(b, a, notes) + " |" : " |";
    }
    rows += "\n";
  }
  return head + "\n" + line + "\n" + rows + "\n" + notes.text();
}

}  // namespace reprise::crossed
