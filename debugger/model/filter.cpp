#include "debugger/model/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "debugger/model/glob.h"
#include "debugger/model/node_details.h"
#include "debugger/model/printable.h"
#include "debugger/model/sql_text.h"

namespace reprise::debugger {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kShares[] = {{"%", 0.01}};
constexpr Unit kBytes[] = {
    {"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}};
constexpr Unit kCounts[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
constexpr Unit kIndices[] = {{"", 1}};

enum GlobField : std::uint8_t { op, scope, label, kernel, source };
constexpr std::array<std::string_view, 5> kGlobs{"op", "scope", "label", "kernel", "source"};

enum NumberField : std::uint8_t { idx, level, p50, p95, total, share, bytes, flops };
struct Number {
  std::string_view name, column;
  std::span<const Unit> units;
};
constexpr std::array<Number, 8> kNumbers{{{"idx", "idx", kIndices},
                                          {"level", "level", kIndices},
                                          {"p50", "p50_ns", kTimes},
                                          {"p95", "p95_ns", kTimes},
                                          {"total", "total_ns", kTimes},
                                          {"share", "share", kShares},
                                          {"bytes", "bytes", kBytes},
                                          {"flops", "flops", kCounts}}};

constexpr std::array<std::string_view, 5> kCompares{"<", "<=", "=", ">=", ">"};  // as Compare

template <class Table, class NameOf>
std::string joined(const Table& table, NameOf name_of) {
  std::string text;
  for (const auto& entry : table) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(entry));
  }
  return text;
}

std::string field_names() {
  return joined(kGlobs, [](std::string_view name) { return std::string(name) + ":"; }) + ", " +
         joined(kNumbers, [](const Number& number) { return std::string(number.name) + ">"; });
}

std::string unit_names(std::span<const Unit> units) {
  return joined(units, [](const Unit& u) { return u.name.empty() ? "no unit" : u.name; });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

class NodeFilter::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Term> parse() {
    const std::string safe = printable(text_);
    if (safe != text_) {
      at_ = static_cast<std::size_t>(
          std::mismatch(text_.begin(), text_.end(), safe.begin(), safe.end()).first -
          text_.begin());
      fail("The filter holds a character that cannot be shown; only text is allowed.");
    } else if (text_.size() > kMaxBytes) {
      at_ = kMaxBytes;
      fail("The filter is too long (" + std::to_string(text_.size()) + " bytes); it may have " +
           std::to_string(kMaxBytes) + ".");
    }
    std::vector<Term> terms;
    while (!problem_ && skip_spaces()) {
      terms.push_back(term());
    }
    return problem_ ? std::vector<Term>{} : terms;
  }
  const std::optional<FilterProblem>& problem() const { return problem_; }

 private:
  bool skip_spaces() {
    at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
    return at_ < text_.size();
  }
  std::string_view rest() const { return text_.substr(at_); }
  void fail(std::string message) {
    if (!problem_) {
      problem_ = FilterProblem{at_, std::move(message)};
    }
  }

  Term term() {
    Term term;
    term.negated = rest().front() == '-';
    at_ += term.negated ? 1 : 0;
    if (rest().empty() || rest().front() == ' ') {
      fail("Nothing follows the -; it negates a word.");
      return term;
    }
    const std::size_t name_end = std::min(
        rest().find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
        rest().size());
    const std::string_view name = rest().substr(0, name_end);
    const std::string_view after = rest().substr(name_end);
    if (!name.empty() && !after.empty() && after.front() == ':') {
      glob(name, term);
    } else if (!name.empty() && !after.empty() &&
               std::string_view("<>=").find(after.front()) != std::string_view::npos) {
      number(name, term);
    } else {
      const bool quoted = rest().front() == '"';
      term.pattern = lower(value());
      term.kind = !quoted && term.pattern == "barrier" ? Kind::barrier : Kind::text;
    }
    return term;
  }

  void glob(std::string_view name, Term& term) {
    const auto field = std::find(kGlobs.begin(), kGlobs.end(), name);
    if (field == kGlobs.end()) {
      fail("Nodes have no field (" + std::string(name) + "); there are " + field_names() + ".");
      return;
    }
    term.kind = Kind::glob;
    term.field = static_cast<std::size_t>(field - kGlobs.begin());
    at_ += name.size() + 1;
    term.pattern = value();
    if (term.pattern.empty()) {
      fail("Nothing follows " + std::string(name) + ":; a name or a pattern with * and ? must.");
    }
  }

  void number(std::string_view name, Term& term) {
    const auto* const field = std::find_if(kNumbers.begin(), kNumbers.end(),
                                           [&](const Number& known) { return known.name == name; });
    if (field == kNumbers.end()) {
      fail("Nodes have no number (" + std::string(name) + "); there are " + field_names() + ".");
      return;
    }
    term.kind = Kind::number;
    term.field = static_cast<std::size_t>(field - kNumbers.begin());
    at_ += name.size();
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < kCompares.size(); ++i) {  // the longest that fits
      if (rest().starts_with(kCompares[i]) && kCompares[i].size() >= kCompares[chosen].size()) {
        chosen = i;
      }
    }
    term.compare = static_cast<Compare>(chosen);
    at_ += kCompares[chosen].size();
    const std::string_view digits = rest().substr(0, rest().find(' '));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), term.value);
    if (error != std::errc() || !std::isfinite(term.value)) {
      fail("(" + std::string(digits) + ") is not a number; " + std::string(name) +
           " is compared with one.");
      return;
    }
    at_ += static_cast<std::size_t>(end - digits.data());
    const std::string_view unit_name = rest().substr(0, rest().find(' '));
    const auto unit = std::find_if(field->units.begin(), field->units.end(),
                                   [&](const Unit& known) { return known.name == unit_name; });
    if (unit == field->units.end()) {
      const std::string units = unit_names(field->units);
      fail(unit_name.empty() ? std::string(name) + " needs a unit: " + units + "."
                             : "(" + std::string(unit_name) + ") is no unit of " +
                                   std::string(name) + "; there are " + units + ".");
      return;
    }
    term.value *= unit->factor;
    at_ += unit_name.size();
  }

  /// Up to the next space, or between quotes, where \" and \\ are characters.
  std::string value() {
    if (rest().empty() || rest().front() != '"') {
      const std::string_view word = rest().substr(0, rest().find(' '));
      at_ += word.size();
      return std::string(word);
    }
    const std::size_t opened = at_++;
    std::string quoted;
    while (!rest().empty() && rest().front() != '"') {
      const bool escaped =
          rest().front() == '\\' && rest().size() > 1 && (rest()[1] == '"' || rest()[1] == '\\');
      at_ += escaped ? 1 : 0;
      quoted += rest().front();
      ++at_;
    }
    if (rest().empty()) {
      at_ = opened;
      fail("The quote is not closed.");
      return quoted;
    }
    ++at_;
    return quoted;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::optional<FilterProblem> problem_;
};

NodeFilter::NodeFilter(std::string_view text) {
  Parser parser(text);
  terms_ = parser.parse();
  problem_ = parser.problem();
}

/// A node with what the terms ask of it.
struct NodeFilter::Row {
  const Capture& capture;
  const CaptureStatistics& statistics;
  std::uint32_t index;
  bool barrier;

  const Capture::Node& node() const { return capture.nodes[index]; }

  template <class Predicate>
  bool any_kernel(Predicate predicate) const {
    const auto steps =
        std::span(capture.step_order).subspan(node().steps.first, node().steps.count);
    return std::any_of(steps.begin(), steps.end(), [&](std::uint32_t step) {
      const auto used = capture.steps[step].kernel;
      return used && predicate(capture.kernels[*used].name);
    });
  }

  std::optional<double> number(std::size_t field) const {
    const NodeTiming* const timing = timing_of(statistics, index);
    const auto of = [](auto value) { return static_cast<double>(value); };
    switch (field) {
      case NumberField::idx:
        return of(index);
      case NumberField::level:
        return of(node().level);
      case NumberField::bytes:
        return bytes_of(node()) ? std::optional(of(*bytes_of(node()))) : std::nullopt;
      case NumberField::flops:
        return node().flops ? std::optional(of(*node().flops)) : std::nullopt;
      default:
        break;
    }
    if (timing == nullptr) {
      return std::nullopt;
    }
    switch (field) {
      case NumberField::p50:
        return of(timing->p50_ns);
      case NumberField::p95:
        return of(timing->p95_ns);
      case NumberField::total:
        return of(timing->total_ns);
      default:
        return share_of(statistics, *timing);
    }
  }
};

bool NodeFilter::holds(const Term& term, const Row& row) {
  const Capture::Node& node = row.node();
  const auto glob = [&](const std::string& pattern, std::string_view text) {
    return glob_matches(pattern, text);
  };
  const auto contains = [&](std::string_view text) {
    return lower(text).find(term.pattern) != std::string::npos;
  };
  switch (term.kind) {
    case Kind::barrier:
      return row.barrier;
    case Kind::text:
      return contains(node.op) || contains(node.label) || contains(node.scope) ||
             contains(source_text(node)) || row.any_kernel(contains);
    case Kind::number: {
      const std::optional<double> value = row.number(term.field);
      if (!value) {
        return false;
      }
      switch (term.compare) {
        case Compare::less:
          return *value < term.value;
        case Compare::less_equal:
          return *value <= term.value;
        case Compare::equal:
          return *value == term.value;
        case Compare::greater_equal:
          return *value >= term.value;
        case Compare::greater:
          return *value > term.value;
      }
      return false;
    }
    case Kind::glob:
      switch (term.field) {
        case GlobField::op:
          return glob(term.pattern, node.op);
        case GlobField::label:
          return glob(term.pattern, node.label);
        case GlobField::scope:
          return glob(term.pattern, node.scope) || glob(term.pattern + "/*", node.scope);
        case GlobField::kernel:
          return row.any_kernel([&](std::string_view name) { return glob(term.pattern, name); });
        default: {
          const std::string text = source_text(node);
          return glob(term.pattern, text) || glob(term.pattern + ":*", text) ||
                 glob("*/" + term.pattern, text) || glob("*/" + term.pattern + ":*", text);
        }
      }
  }
  return false;
}

std::vector<std::uint32_t> NodeFilter::nodes(const Capture& capture,
                                             const CaptureStatistics& statistics) const {
  const std::vector<bool> barriers = nodes_with_barriers(capture);
  std::vector<std::uint32_t> passed;
  for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
    const Row row{capture, statistics, n, barriers[n]};
    if (std::all_of(terms_.begin(), terms_.end(),
                    [&](const Term& term) { return holds(term, row) != term.negated; })) {
      passed.push_back(n);
    }
  }
  return passed;
}

std::string NodeFilter::condition(const Term& term) {
  const auto glob = [](std::string_view column, const std::string& pattern) {
    return std::string(column) + " GLOB " + sql_glob(pattern);
  };
  const auto contains = [&](std::string_view column) {
    return "instr(lower(" + std::string(column) + "), " + sql_string(term.pattern) + ") > 0";
  };
  const auto kernels = [](const std::string& of_name) {
    return "EXISTS (SELECT 1 FROM steps d JOIN kernels k ON k.id = d.kernel_id WHERE d.graph_id = "
           "node_rows.graph_id AND d.node_idx = node_rows.idx AND " +
           of_name + ")";
  };
  switch (term.kind) {
    case Kind::barrier:
      return "barrier";
    case Kind::text:
      return contains("op") + " OR " + contains("label") + " OR " + contains("scope") + " OR " +
             contains("source") + " OR " + kernels(contains("k.name"));
    case Kind::number: {
      std::array<char, 40> value{};
      std::snprintf(value.data(), value.size(), "%.17g", term.value);
      return std::string(kNumbers[term.field].column) + " " +
             std::string(kCompares[static_cast<std::size_t>(term.compare)]) + " " + value.data();
    }
    case Kind::glob:
      break;
  }
  const std::string_view column = kGlobs[term.field];
  switch (term.field) {
    case GlobField::scope:
      return glob(column, term.pattern) + " OR " + glob(column, term.pattern + "/*");
    case GlobField::kernel:
      return kernels(glob("k.name", term.pattern));
    case GlobField::source:
      return glob(column, term.pattern) + " OR " + glob(column, term.pattern + ":*") + " OR " +
             glob(column, "*/" + term.pattern) + " OR " + glob(column, "*/" + term.pattern + ":*");
    default:
      return glob(column, term.pattern);
  }
}

std::string NodeFilter::where() const {
  std::string all;
  for (const Term& term : terms_) {
    // A number that a node does not have makes its comparison NULL, which NOT keeps.
    all += (all.empty() ? "" : " AND ") + (term.negated ? "NOT coalesce(" + condition(term) + ", 0)"
                                                        : "(" + condition(term) + ")");
  }
  return all.empty() ? "1" : all;
}

}  // namespace reprise::debugger
