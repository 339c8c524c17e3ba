// StateLayout: the named scalars and arrays that change between replays, and their owners.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reprise/core/operand.h"
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

/// The values an i32 field may have, both ends included.
struct StateRange {
  std::int32_t low = std::numeric_limits<std::int32_t>::min();
  std::int32_t high = std::numeric_limits<std::int32_t>::max();
  bool contains(std::int32_t value) const { return low <= value && value <= high; }
  /// Returns whether it excludes any value.
  bool limits() const { return *this != StateRange(); }
  bool operator==(const StateRange&) const = default;
};
/// Returns "1 to 32".
std::string to_string(const StateRange& range);

struct StateFieldInfo {
  std::string name;
  StateOwner owner = StateOwner::host;
  DType dtype = DType::i32;   // i32 or f32
  std::uint32_t word = 0;     // place in the block: host fields, carried ones, derived ones
  std::uint32_t initial = 0;  // bits
  std::string expression{};   // derived only, for people
  StateRange range{};         // i32 only
  std::uint32_t count = 1;    // elements of an array
};
/// Checks that a value with these bits may be given to the field: an i32 in its range, a finite
/// f32.
/// Errors: invalid_argument if not.
void require_value(const StateFieldInfo& info, std::uint32_t bits);

/// The initial value of an i32 field: any integer of the program. A fraction does not compile.
/// Errors: invalid_argument if 32 bits do not hold it.
struct InitialInteger {
  InitialInteger() = default;
  template <std::integral I>
  InitialInteger(I initial,  // NOLINT(google-explicit-constructor)
                 SourceLocation where = SourceLocation::here())
      : value(Param<std::int32_t>(initial, where).value) {}
  std::int32_t value = 0;
};

/// Fields and arrays of a state. Names are unique and not empty. At most 32 carried fields, any
/// number of carried arrays.
/// Units: at most 1,024 words of 4 bytes: one per field and per element of an array.
/// Errors: invalid_argument from every function that adds a field or an array, if these limits are
/// exceeded, the name is empty or taken, or an initial value is out of range.
class StateLayout {
 public:
  static constexpr std::uint32_t kMaxWords = 1024;
  static constexpr std::uint64_t kWordBytes = 4;
  static constexpr std::uint32_t kMaxCarried = 32;

  /// Adds a field: host("rows", 1, {.low = 1, .high = 32}).
  StateLayout& host(std::string name, InitialInteger initial = {}, StateRange range = {});
  StateLayout& host_f32(std::string name, float initial = 0);
  StateLayout& carried(std::string name, InitialInteger initial = {}, StateRange range = {});
  StateLayout& carried_f32(std::string name, float initial = 0);
  /// Adds a field that is computed. Fields of the expression must be declared before; they are i32.
  /// The host sees a value outside the range only after it was computed.
  StateLayout& derived(std::string name, const FieldExpression& expression, StateRange range = {});

  /// Adds a tensor [count] beside the block, returned by Recorder::state_array: ids, positions,
  /// tokens of a batch. Elements start at 0, or at the end of the range that is nearest to it. The
  /// range is checked where the host sets them.
  StateLayout& array(std::string name, std::uint32_t count, StateRange range = {});
  StateLayout& array_f32(std::string name, std::uint32_t count);
  StateLayout& carried_array(std::string name, std::uint32_t count, StateRange range = {});
  StateLayout& carried_array_f32(std::string name, std::uint32_t count);

  /// Stops the iterations of a submission once that field is not zero. It is a carried i32 field
  /// declared before, and the only one that stops them.
  StateLayout& stop_when(std::string_view field);
  /// Returns the word of that field in the block.
  std::optional<std::uint32_t> stop_word() const;

  /// Returns the fields in the order of the block.
  std::vector<StateFieldInfo> fields() const;
  /// Returns arrays of the host, then carried ones: their words follow those of the block.
  std::vector<StateFieldInfo> arrays() const;
  /// Finds a field or an array; null if there is none.
  const StateFieldInfo* find(std::string_view name) const;
  const StateFieldInfo* find_array(std::string_view name) const;
  /// Returns "pos, token", for messages.
  std::string names() const;
  std::string array_names() const;
  std::uint32_t host_count() const { return count(StateOwner::host); }
  std::uint32_t carried_count() const { return count(StateOwner::carried); }
  std::uint32_t derived_count() const { return count(StateOwner::derived); }
  /// Returns the number of words of the block, without arrays.
  std::uint32_t words() const { return static_cast<std::uint32_t>(fields_.size()); }
  std::uint32_t words_with_arrays() const;
  /// Returns the word and the expression of each derived field, in order. The fields it reads are
  /// words of the block.
  std::vector<std::pair<std::uint32_t, StateExpression>> derivations() const;

 private:
  StateLayout& add(StateFieldInfo info, FieldExpression expression = {});
  StateLayout& add_array(StateFieldInfo info);
  void require_room(const StateFieldInfo& info) const;
  std::uint32_t count(StateOwner owner) const;
  void place();
  std::vector<StateFieldInfo> fields_;  // in order of declaration, words kept up to date
  std::vector<FieldExpression> expressions_;
  std::vector<StateFieldInfo> arrays_;  // likewise
  std::string stop_;                    // a name; empty: none
};

}  // namespace reprise
