// What kind of tensor every value of a program is, and whether an op may be called with it. A model
// of the checks of a session: what it accepts, the library has to accept.
#pragma once
#include <optional>

#include "tests/crossed/program.h"

namespace reprise::crossed {

using Dims = std::vector<std::int64_t>;

struct Type {
  Kind kind = Kind::none;
  std::array<std::int64_t, 4> dims{};
  std::array<std::int64_t, 4> strides{};
  std::size_t rank = 0;
  bool extent = false;  // its first dimension is the extent of the state
  int storage = -1;     // the value whose memory it is
  std::int64_t offset = 0;
  bool view = false;
  std::int64_t below = 1 << 30;  // bound of integers
  bool different = false;        // integers that differ from each other

  std::int64_t elements() const;
  std::int64_t back() const { return dims[rank - 1]; }
  bool contiguous() const;
  bool rows() const { return strides[rank - 1] == 1; }
  bool same_shape(const Type& other) const;
};

/// Of memory of its own.
Type contiguous(Kind kind, const Dims& dims, bool extent = false);
Type type_of(Leaf leaf, const Setup& setup);
/// The types of all values, leaves first; none if an op may not be called so.
std::optional<std::vector<Type>> types_of(const Program& program);
/// The type of the next op's result; none if it may not be called so. `before`: the values so far.
std::optional<Type> infer(const Op& op, const std::vector<Type>& before, const Program& program);
/// Whether a value may be an output.
bool may_be_output(const Type& type);
/// Whether a value may be what the next round finds in `memory`.
bool may_be_fed(const Type& type);
/// Whether ops may write this memory.
bool may_be_written(int storage, const Setup& setup);

/// The value that an op writes in place; -1: none.
int written_by(const Op& op);
/// Whether a table that a run was given goes into the handle: it is fed in place.
bool keeps_given_table(const Program& program);
/// Whether a program writes an input of its rounds: only a graph of several iterations shows that
/// to the next one.
bool writes_an_input(const Program& program);

}  // namespace reprise::crossed
