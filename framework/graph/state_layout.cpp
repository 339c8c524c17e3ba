#include "reprise/graph/state_layout.h"

#include <algorithm>
#include <bit>

namespace reprise {
namespace {

[[noreturn]] void not_closed(const std::string& why) {
  throw Error(ErrorCode::unsupported,
              "A derived field is limit(ceil_div(a * x + b * y + c, d), low, high) over at most "
              "two fields; " +
                  why + ".");
}

bool is_sum(const StateExpression& e) {
  const StateExpression plain;
  return e.div == 1 && e.lo == plain.lo && e.hi == plain.hi;
}

void require_sum(const FieldExpression& e, std::string_view what) {
  if (!is_sum(e.form)) {
    not_closed("this one applies " + std::string(what) + " after a division or limit");
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
    invalid("field() needs the name of a state field, but got an empty one.");
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
      not_closed("this one adds a third field (" + name + ")");
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
    invalid("ceil_div needs a divisor of at least 1, but got (" + std::to_string(divisor) + ").");
  }
  value.form.div = divisor;
  return value;
}

FieldExpression limit(FieldExpression value, std::int32_t low, std::int32_t high) {
  if (low > high) {
    invalid("limit needs low <= high, but got (" + std::to_string(low) + ") and (" +
            std::to_string(high) + ").");
  }
  value.form.lo = std::clamp(value.form.lo, low, high);
  value.form.hi = std::clamp(value.form.hi, low, high);
  return value;
}

StateLayout& StateLayout::host(std::string name, std::int32_t initial) {
  add({std::move(name), StateOwner::host, DType::i32, 0, std::bit_cast<std::uint32_t>(initial),
       ""});
  return *this;
}

StateLayout& StateLayout::host_f32(std::string name, float initial) {
  add({std::move(name), StateOwner::host, DType::f32, 0, std::bit_cast<std::uint32_t>(initial),
       ""});
  return *this;
}

StateLayout& StateLayout::carried(std::string name, std::int32_t initial) {
  if (carried_count() == kMaxCarried) {
    invalid("A state layout has at most 32 carried fields, but '" + name + "' is one more.");
  }
  add({std::move(name), StateOwner::carried, DType::i32, 0, std::bit_cast<std::uint32_t>(initial),
       ""});
  return *this;
}

StateLayout& StateLayout::derived(std::string name, const FieldExpression& expression) {
  for (const std::string& used : {expression.x, expression.y}) {
    const StateFieldInfo* known = used.empty() ? nullptr : find(used);
    if (!used.empty() && (known == nullptr || known->dtype != DType::i32)) {
      invalid("The derived field '" + name + "' uses the field (" + used +
              "), which is not an i32 field declared before it; the fields are: " + names() + ".");
    }
  }
  add({std::move(name), StateOwner::derived, DType::i32, 0, 0, expression.text()}, expression);
  return *this;
}

void StateLayout::add(StateFieldInfo info, FieldExpression expression) {
  if (info.name.empty() || find(info.name) != nullptr) {
    invalid("A state field needs a name of its own, but (" + info.name + ") is " +
            (info.name.empty() ? "empty." : "declared already."));
  }
  if (fields_.size() == kMaxWords) {
    invalid("A state layout has at most 1024 fields, but '" + info.name + "' is one more.");
  }
  fields_.push_back(std::move(info));
  expressions_.push_back(std::move(expression));
  place();
}

void StateLayout::place() {
  std::uint32_t word = 0;
  for (const StateOwner owner : {StateOwner::host, StateOwner::carried, StateOwner::derived}) {
    for (StateFieldInfo& info : fields_) {
      if (info.owner == owner) {
        info.word = word++;
      }
    }
  }
}

std::uint32_t StateLayout::count(StateOwner owner) const {
  return static_cast<std::uint32_t>(std::ranges::count(fields_, owner, &StateFieldInfo::owner));
}

std::vector<StateFieldInfo> StateLayout::fields() const {
  std::vector<StateFieldInfo> ordered = fields_;
  std::ranges::sort(ordered, {}, &StateFieldInfo::word);
  return ordered;
}

const StateFieldInfo* StateLayout::find(std::string_view name) const {
  const auto it = std::ranges::find(fields_, name, &StateFieldInfo::name);
  return it == fields_.end() ? nullptr : &*it;
}

std::string StateLayout::names() const {
  std::string list;
  for (const StateFieldInfo& info : fields_) {
    list += (list.empty() ? "" : ", ") + info.name;
  }
  return list.empty() ? "none" : list;
}

std::vector<StateLayout::Derivation> StateLayout::derivations() const {
  std::vector<Derivation> rows;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].owner != StateOwner::derived) {
      continue;
    }
    const FieldExpression& e = expressions_[i];
    Derivation row{fields_[i].word, e.form};
    row.expression.x = e.x.empty() ? -1 : static_cast<std::int32_t>(find(e.x)->word);
    row.expression.y = e.y.empty() ? -1 : static_cast<std::int32_t>(find(e.y)->word);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace reprise
