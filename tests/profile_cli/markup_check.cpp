#include "tests/profile_cli/markup_check.h"

#include <array>
#include <regex>
#include <vector>

namespace reprise::test {
namespace {

std::string problem(const std::string& what, std::string_view where) {
  return "problem: " + what + ": " + std::string(where.substr(0, 60));
}

/// Every & begins one of the references that are defined everywhere.
bool sound_text(std::string_view text) {
  constexpr std::array<std::string_view, 5> kReferences{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  for (std::size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
    bool known = false;
    for (const std::string_view reference : kReferences) {
      known = known || text.substr(i).starts_with(reference);
    }
    if (!known) {
      return false;
    }
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string elements_of(std::string_view markup) {
  static const std::regex kTag(
      R"re(<(/?)([A-Za-z][A-Za-z0-9]*)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(/?)>)re");
  std::string names;
  std::vector<std::string> open;
  while (!markup.empty()) {
    const std::size_t tag = std::min(markup.find('<'), markup.size());
    if (!sound_text(markup.substr(0, tag))) {
      return problem("text that is not escaped", markup);
    }
    markup.remove_prefix(tag);
    if (markup.starts_with("<?xml ") || markup.starts_with("<!DOCTYPE html>")) {
      markup.remove_prefix(markup.find('>') + 1);
      continue;
    }
    if (markup.empty()) {
      break;
    }
    std::cmatch match;
    const std::size_t end = std::min(markup.find('>'), markup.size() - 1) + 1;
    if (!std::regex_match(markup.data(), markup.data() + end, match, kTag) ||
        !sound_text(match[3].str())) {
      return problem("no tag", markup);
    }
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != match[2].str()) {
        return problem("an end without a begin", markup);
      }
      open.pop_back();
    } else {
      names += match[2].str() + " ";
      if (match[4].length() == 0) {
        open.push_back(match[2].str());
      }
    }
    markup.remove_prefix(end);
  }
  return open.empty() ? names : "problem: no end of " + open.back();
}

}  // namespace reprise::test
