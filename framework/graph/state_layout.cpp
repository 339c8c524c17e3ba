#include "reprise/graph/state_layout.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "framework/core/known_names.h"

namespace reprise {
namespace {

template <class... Parts>
[[noreturn]] void not_closed(const Parts&... why) {
  throw_error(ErrorCode::unsupported,
              "A derived field is limit(ceil_div(a * x + b * y + c, d), low, high) over at most "
              "two fields; ",
              why..., ".");
}

bool is_sum(const StateExpression& e) {
  const StateExpression plain;
  return e.div == 1 && e.lo == plain.lo && e.hi == plain.hi;
}

void require_sum(const FieldExpression& e, std::string_view what) {
  if (!is_sum(e.form)) {
    not_closed("this one applies ", what, " after a division or limit");
  }
}

// Like evaluate(): sums and products are modulo 2^32.
std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t wrapped_product(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

std::string term(const std::string& name, std::int32_t factor) {
  return factor == 1 ? name : std::to_string(factor) + " * " + name;
}

const StateFieldInfo* find_in(const std::vector<StateFieldInfo>& list, std::string_view name) {
  const auto it = std::ranges::find(list, name, &StateFieldInfo::name);
  return it == list.end() ? nullptr : &*it;
}

std::vector<StateFieldInfo> by_word(std::vector<StateFieldInfo> list) {
  std::ranges::sort(list, {}, &StateFieldInfo::word);
  return list;
}

}  // namespace

std::string_view name_of(StateOwner owner) {
  constexpr std::array<std::string_view, 3> kNames{"host", "carried", "derived"};
  return kNames[static_cast<std::size_t>(owner)];
}

std::string FieldExpression::text() const {
  std::string sum = x.empty() ? "" : term(x, form.a);
  if (!y.empty()) {
    sum += (sum.empty() ? "" : " + ") + term(y, form.b);
  }
  if (form.c != 0 || sum.empty()) {
    sum += (sum.empty() ? "" : " + ") + std::to_string(form.c);
  }
  if (form.div != 1) {
    sum = "ceil((" + sum + ") / " + std::to_string(form.div) + ")";
  }
  const StateExpression plain;
  if (form.lo != plain.lo || form.hi != plain.hi) {
    sum = "limit(" + sum + ", " + std::to_string(form.lo) + ", " + std::to_string(form.hi) + ")";
  }
  return sum;
}

FieldExpression field(std::string name) {
  if (name.empty()) {
    throw_invalid_argument("field() needs the name of a state field, but got an empty one.");
  }
  FieldExpression e;
  e.x = std::move(name);
  e.form.a = 1;
  return e;
}

FieldExpression operator+(FieldExpression left, const FieldExpression& right) {
  require_sum(left, "+");
  require_sum(right, "+");
  left.form.c = wrapped_sum(left.form.c, right.form.c);
  const std::pair<std::string, std::int32_t> terms[] = {{right.x, right.form.a},
                                                        {right.y, right.form.b}};
  for (const auto& [name, factor] : terms) {
    if (name.empty()) {
      continue;
    }
    if (name == left.x || left.x.empty()) {
      left.x = name;
      left.form.a = wrapped_sum(left.form.a, factor);
    } else if (name == left.y || left.y.empty()) {
      left.y = name;
      left.form.b = wrapped_sum(left.form.b, factor);
    } else {
      not_closed("this one adds a third field (", name, ")");
    }
  }
  return left;
}

FieldExpression operator+(FieldExpression left, std::int32_t right) {
  require_sum(left, "+");
  left.form.c = wrapped_sum(left.form.c, right);
  return left;
}

FieldExpression operator*(FieldExpression left, std::int32_t factor) {
  require_sum(left, "*");
  left.form.a = wrapped_product(left.form.a, factor);
  left.form.b = wrapped_product(left.form.b, factor);
  left.form.c = wrapped_product(left.form.c, factor);
  return left;
}

FieldExpression ceil_div(FieldExpression value, std::int32_t divisor) {
  require_sum(value, "ceil_div");
  if (divisor < 1) {
    throw_invalid_argument("ceil_div needs a divisor of at least 1, but got (", divisor, ").");
  }
  value.form.div = divisor;
  return value;
}

FieldExpression limit(FieldExpression value, std::int32_t low, std::int32_t high) {
  if (low > high) {
    throw_invalid_argument("limit needs low <= high, but got (", low, ") and (", high, ").");
  }
  value.form.lo = std::clamp(value.form.lo, low, high);
  value.form.hi = std::clamp(value.form.hi, low, high);
  return value;
}

std::string to_string(const StateRange& range) {
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

void require_value(const StateFieldInfo& info, std::uint32_t bits) {
  if (info.dtype == DType::f32) {
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) {
      throw_invalid_argument("The state field '", info.name, "' needs a finite number, but got (",
                             value, ").");
    }
  } else if (const auto value = std::bit_cast<std::int32_t>(bits); !info.range.contains(value)) {
    throw_invalid_argument("The state field '", info.name, "' is limited to ",
                           to_string(info.range), ", but got (", value, ").");
  }
}

StateLayout& StateLayout::host(std::string name, InitialInteger initial, StateRange range) {
  return add({.name = std::move(name),
              .owner = StateOwner::host,
              .initial = std::bit_cast<std::uint32_t>(initial.value),
              .range = range});
}

StateLayout& StateLayout::host_f32(std::string name, float initial) {
  return add({.name = std::move(name),
              .owner = StateOwner::host,
              .dtype = DType::f32,
              .initial = std::bit_cast<std::uint32_t>(initial)});
}

StateLayout& StateLayout::carried(std::string name, InitialInteger initial, StateRange range) {
  return add({.name = std::move(name),
              .owner = StateOwner::carried,
              .initial = std::bit_cast<std::uint32_t>(initial.value),
              .range = range});
}

StateLayout& StateLayout::carried_f32(std::string name, float initial) {
  return add({.name = std::move(name),
              .owner = StateOwner::carried,
              .dtype = DType::f32,
              .initial = std::bit_cast<std::uint32_t>(initial)});
}

StateLayout& StateLayout::derived(std::string name, const FieldExpression& expression,
                                  StateRange range) {
  for (const std::string& used : {expression.x, expression.y}) {
    const StateFieldInfo* known = used.empty() ? nullptr : find(used);
    if (!used.empty() && (known == nullptr || known->dtype != DType::i32)) {
      throw_invalid_argument(
          "The derived field '", name, "' uses the field (", used,
          "), which is not an i32 field declared before it; the fields are: ", names(), ".");
    }
  }
  return add({.name = std::move(name),
              .owner = StateOwner::derived,
              .expression = expression.text(),
              .range = range},
             expression);
}

StateLayout& StateLayout::array(std::string name, std::uint32_t count, StateRange range) {
  return add_array({.name = std::move(name), .range = range, .count = count});
}

StateLayout& StateLayout::array_f32(std::string name, std::uint32_t count) {
  return add_array({.name = std::move(name), .dtype = DType::f32, .count = count});
}

StateLayout& StateLayout::carried_array(std::string name, std::uint32_t count, StateRange range) {
  return add_array(
      {.name = std::move(name), .owner = StateOwner::carried, .range = range, .count = count});
}

StateLayout& StateLayout::carried_array_f32(std::string name, std::uint32_t count) {
  return add_array(
      {.name = std::move(name), .owner = StateOwner::carried, .dtype = DType::f32, .count = count});
}

StateLayout& StateLayout::stop_when(std::string_view field) {
  const StateFieldInfo* known = find(field);
  if (known == nullptr || known->owner != StateOwner::carried || known->dtype != DType::i32) {
    throw_invalid_argument(
        "Iterations stop when a carried i32 field is not zero, but (", field, ") is ",
        known == nullptr ? "not declared"
                         : joined_text(name_of(known->owner), " and ", name_of(known->dtype)),
        "; the fields are: ", names(), ".");
  }
  if (!stop_.empty()) {
    throw_invalid_argument("Iterations stop when '", stop_, "' is not zero; (", field,
                           ") would be a second field.");
  }
  stop_ = field;
  return *this;
}

std::optional<std::uint32_t> StateLayout::stop_word() const {
  return stop_.empty() ? std::nullopt : std::optional(find(stop_)->word);
}

void StateLayout::require_room(const StateFieldInfo& info) const {
  if (info.name.empty() || find(info.name) != nullptr || find_array(info.name) != nullptr) {
    throw_invalid_argument("A state field needs a name of its own, but (", info.name, ") is ",
                           info.name.empty() ? "empty." : "declared already.");
  }
  if (info.count > kMaxWords - words_with_arrays()) {
    throw_invalid_argument("A state layout has at most 1024 words, but with '", info.name,
                           "' there would be (", std::uint64_t{info.count} + words_with_arrays(),
                           ").");
  }
  if (info.range.low > info.range.high) {
    throw_invalid_argument("A range needs low <= high, but that of the state field '", info.name,
                           "' is (", to_string(info.range), ").");
  }
}

StateLayout& StateLayout::add_array(StateFieldInfo info) {
  require_room(info);
  if (info.count == 0) {
    throw_invalid_argument("The state array '", info.name,
                           "' needs at least 1 element, but got (0).");
  }
  info.initial =
      std::bit_cast<std::uint32_t>(std::clamp(std::int32_t{0}, info.range.low, info.range.high));
  arrays_.push_back(std::move(info));
  place();
  return *this;
}

StateLayout& StateLayout::add(StateFieldInfo info, FieldExpression expression) {
  require_room(info);
  if (info.owner == StateOwner::carried && carried_count() == kMaxCarried) {
    throw_invalid_argument("A state layout has at most 32 carried fields, but '", info.name,
                           "' is one more.");
  }
  if (info.owner != StateOwner::derived) {
    require_value(info, info.initial);
  }
  fields_.push_back(std::move(info));
  expressions_.push_back(std::move(expression));
  place();
  return *this;
}

void StateLayout::place() {
  std::uint32_t word = 0;
  for (std::vector<StateFieldInfo>* list : {&fields_, &arrays_}) {
    for (const StateOwner owner : {StateOwner::host, StateOwner::carried, StateOwner::derived}) {
      for (StateFieldInfo& info : *list) {
        if (info.owner == owner) {
          info.word = word;
          word += info.count;
        }
      }
    }
  }
}

std::uint32_t StateLayout::count(StateOwner owner) const {
  return static_cast<std::uint32_t>(std::ranges::count(fields_, owner, &StateFieldInfo::owner));
}

std::uint32_t StateLayout::words_with_arrays() const {
  std::uint32_t sum = words();
  for (const StateFieldInfo& info : arrays_) {
    sum += info.count;
  }
  return sum;
}

std::vector<StateFieldInfo> StateLayout::fields() const { return by_word(fields_); }
std::vector<StateFieldInfo> StateLayout::arrays() const { return by_word(arrays_); }

const StateFieldInfo* StateLayout::find(std::string_view name) const {
  return find_in(fields_, name);
}
const StateFieldInfo* StateLayout::find_array(std::string_view name) const {
  return find_in(arrays_, name);
}

std::string StateLayout::names() const { return names_of(fields_, &StateFieldInfo::name); }
std::string StateLayout::array_names() const { return names_of(arrays_, &StateFieldInfo::name); }

std::vector<std::pair<std::uint32_t, StateExpression>> StateLayout::derivations() const {
  std::vector<std::pair<std::uint32_t, StateExpression>> rows;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].owner != StateOwner::derived) {
      continue;
    }
    const FieldExpression& e = expressions_[i];
    StateExpression& row = rows.emplace_back(fields_[i].word, e.form).second;
    row.x = e.x.empty() ? -1 : static_cast<std::int32_t>(find(e.x)->word);
    row.y = e.y.empty() ? -1 : static_cast<std::int32_t>(find(e.y)->word);
  }
  return rows;
}

}  // namespace reprise
