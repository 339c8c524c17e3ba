// StateLayout: the named scalars that change between replays, and who owns them.
#pragma once
#include <string>
#include <vector>

#include "reprise/core/op.h"
#include "reprise/core/state_expression.h"

namespace reprise {

enum class StateOwner : std::uint8_t {
  host,     // copied to the device by every launch
  carried,  // stays on the device between launches; the host can patch it
  derived,  // computed from other fields at the head of every launch
};
std::string_view name_of(StateOwner owner);

/// An expression over fields: sums of at most two fields with integer factors, divided rounding up,
/// then limited. field("pos") + field("rows"); ceil_div(field("kv_len"), 8); limit(e, 0, 512).
struct FieldExpression {
  std::string x, y;  // empty: absent
  StateExpression form;
  std::string text() const;
};
FieldExpression field(std::string name);
FieldExpression operator+(FieldExpression left, const FieldExpression& right);
FieldExpression operator+(FieldExpression left, std::int32_t right);
FieldExpression operator*(FieldExpression left, std::int32_t factor);
FieldExpression ceil_div(FieldExpression value, std::int32_t divisor);
FieldExpression limit(FieldExpression value, std::int32_t low, std::int32_t high);

struct StateFieldInfo {
  std::string name;
  StateOwner owner = StateOwner::host;
  DType dtype = DType::i32;   // i32 or f32
  std::uint32_t word = 0;     // place in the block: host fields, carried ones, derived ones
  std::uint32_t initial = 0;  // bits
  std::string expression;     // derived only, for people
};

/// At most 1,024 fields of 4 bytes each, 32 of them carried. Names are unique and not empty.
class StateLayout {
 public:
  static constexpr std::uint32_t kMaxWords = 1024;
  static constexpr std::uint32_t kMaxCarried = 32;

  StateLayout& host(std::string name, std::int32_t initial = 0);
  StateLayout& host_f32(std::string name, float initial = 0);
  StateLayout& carried(std::string name, std::int32_t initial = 0);
  /// Fields of the expression must be declared before; they are i32.
  StateLayout& derived(std::string name, const FieldExpression& expression);

  /// In the order of the block.
  std::vector<StateFieldInfo> fields() const;
  /// Null if there is none.
  const StateFieldInfo* find(std::string_view name) const;
  /// "pos, token": for messages.
  std::string names() const;
  std::uint32_t host_count() const { return count(StateOwner::host); }
  std::uint32_t carried_count() const { return count(StateOwner::carried); }
  std::uint32_t derived_count() const { return count(StateOwner::derived); }
  std::uint32_t words() const { return static_cast<std::uint32_t>(fields_.size()); }
  /// One expression per derived field, in order, field references as words of the block.
  struct Derivation {
    std::uint32_t target;
    StateExpression expression;
  };
  std::vector<Derivation> derivations() const;

 private:
  void add(StateFieldInfo info, FieldExpression expression = {});
  std::uint32_t count(StateOwner owner) const;
  void place();
  std::vector<StateFieldInfo> fields_;  // in order of declaration, words kept up to date
  std::vector<FieldExpression> expressions_;
};

}  // namespace reprise
