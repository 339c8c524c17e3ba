#include "bench/number_list.h"

#include <charconv>
#include <optional>

#include "bench/arguments.h"

namespace reprise::bench {
namespace {

constexpr std::size_t kMaxNumbers = 1024;  // a longer list is a mistake

struct Range {
  std::int64_t first = 0, last = 0, step = 1;
  char sign = '+';
};

/// Empty for a word that is no range, or has a step that leads nowhere.
std::optional<Range> range_of(const std::string& word) {
  const char* at = word.data();
  const char* const end = at + word.size();
  const auto number = [&](std::int64_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc();
  };
  Range r;
  if (!number(r.first)) {
    return std::nullopt;
  }
  r.last = r.first;
  if (at == end) {
    return r;
  }
  if (*at++ != '-' || !number(r.last) || r.last < r.first) {
    return std::nullopt;
  }
  if (at == end) {
    return r;
  }
  r.sign = *at++;
  const bool adds = r.sign == '+';
  const bool multiplies = r.sign == '*' && r.first > 0;
  if (!(adds || multiplies) || !number(r.step) || at != end || r.step < (adds ? 1 : 2) ||
      r.step > kMaxTokens) {
    return std::nullopt;
  }
  return r;
}

}  // namespace

std::vector<std::int64_t> numbers_of(const char* flag, const std::vector<std::string>& words,
                                     std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : words) {
    const std::optional<Range> range = range_of(word);
    if (!range) {
      throw_invalid_argument(flag, " is (", word,
                             "), but must be a number or a range: 16, 16-64, 16-64+16 or 16-64*2.");
    }
    require_between(flag, range->first, min, max);
    require_between(flag, range->last, min, max);
    for (std::int64_t value = range->first; value <= range->last;
         value = range->sign == '+' ? value + range->step : value * range->step) {
      if (numbers.size() == kMaxNumbers) {
        throw_invalid_argument(flag, " has more values, up to the range (", word, "), than the ",
                               kMaxNumbers, " allowed.");
      }
      numbers.push_back(value);
    }
  }
  return numbers;
}

}  // namespace reprise::bench
