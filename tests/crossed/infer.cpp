// Whether an op may be called, and what it returns: the checks of a session, said once more.
#include <algorithm>

#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

/// The shape of `like` with another last dimension, and memory of its own.
Type with_back(const Type& like, std::int64_t back, Kind kind = Kind::f32) {
  Dims dims(like.dims.begin(), like.dims.begin() + static_cast<std::ptrdiff_t>(like.rank));
  dims.back() = back;
  return contiguous(kind, dims, like.extent);
}

std::int64_t per_row(const Type& type) { return type.elements() / type.dims[0]; }

/// Checks one op against the types before it. Every function returns a type or none.
class Inference {
 public:
  Inference(const Op& op, const std::vector<Type>& before, const Program& program)
      : op_(op), before_(before), program_(program) {}

  std::optional<Type> result() const {
    for (const int operand : op_.operands) {
      if (operand >= static_cast<int>(before_.size()) ||
          (operand >= 0 && before_[static_cast<std::size_t>(operand)].kind == Kind::none)) {
        return {};
      }
    }
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      // Infinities of the mask are for attention alone. Weights of experts may be placed in cells.
      const bool mask = op_.kind == OpKind::attention && i == 3;
      const bool experts = op_.kind == OpKind::experts && i == 2;
      if (has(i) && ((op_.operands[i] == id_of(Leaf::mask)) != mask ||
                     (op_.operands[i] == id_of(Leaf::experts)) != experts)) {
        return {};
      }
    }
    if (!has(0)) {
      return {};
    }
    switch (op_.kind) {
      case OpKind::binary:
        return binary();
      case OpKind::unary:
      case OpKind::scalar:
      case OpKind::cumsum:
        return given(floats(0) && (op_.kind != OpKind::cumsum || a().rank > 1), with_same(a()));
      case OpKind::softmax:
        return given(floats(0) && a().rows() && a().rank > 1, with_same(a()));
      case OpKind::rms_norm:
        return given(
            floats(0) && a().rows() && a().rank > 1 && (!has(1) || is_row_of(b(), a().back())),
            with_same(a()));
      case OpKind::gated:
        return gated();
      case OpKind::matmul:
        return matmul();
      case OpKind::attention:
        return attention();
      case OpKind::rope:
        return rope();
      case OpKind::set_rows:
        return set_rows();
      case OpKind::get_rows:
        return get_rows();
      case OpKind::reduce:
        return reduce();
      case OpKind::argmax:
        return argmax();
      case OpKind::experts:
        return given(floats(0) && a().rank == 2 && a().back() == kColumns && a().contiguous() &&
                         op_.operands[1] == id_of(Leaf::router) &&
                         op_.operands[2] == id_of(Leaf::experts) &&
                         (!a().extent || !program_.setup.cpu_misses),
                     with_same(a()));
      case OpKind::advance:
        return given(a().kind == Kind::i32 && a().rank == 1 && a().dims[0] == 1 && !a().extent &&
                         a().contiguous() && a().below <= kTokens,
                     Type());
      case OpKind::custom:
        return given(
            bindable(0) && has(1) && bindable(1) && a().same_shape(b()) && a().extent == b().extent,
            with_same(a()));
      case OpKind::accumulate:
        return given(bindable(0) && has(1) && bindable(1) && a().same_shape(b()) && !a().extent &&
                         !b().extent && a().storage != b().storage && writable(b()),
                     Type());
      case OpKind::host_step:
        return given(floats(0) && !program_.setup.extent && a().contiguous(), with_same(a()));
      default:
        return moved();
    }
  }

 private:
  bool has(std::size_t i) const { return op_.operands[i] >= 0; }
  const Type& at(std::size_t i) const { return before_[static_cast<std::size_t>(op_.operands[i])]; }
  const Type& a() const { return at(0); }
  const Type& b() const { return at(1); }
  const Type& c() const { return at(2); }
  bool floats(std::size_t i) const { return has(i) && at(i).kind == Kind::f32; }
  bool bindable(std::size_t i) const {
    return floats(i) && at(i).contiguous() && at(i).offset == 0;
  }
  bool writable(const Type& type) const { return may_be_written(type.storage, program_.setup); }
  static bool is_row_of(const Type& type, std::int64_t columns) {
    return type.kind == Kind::f32 && type.rank == 1 && type.dims[0] == columns && !type.extent &&
           type.contiguous();
  }
  static Type with_same(const Type& like) { return with_back(like, like.back()); }
  static std::optional<Type> given(bool allowed, const Type& type) {
    return allowed ? std::optional(type) : std::nullopt;
  }

  std::optional<Type> binary() const {
    if (!floats(0) || !floats(1) || b().rank > a().rank || (b().extent && !a().extent)) {
      return {};
    }
    // Of quotients, divisors have to be away from 0.
    if (op_.numbers[0] == 3 && op_.operands[1] != id_of(Leaf::norm)) {
      return {};
    }
    const std::size_t missing = a().rank - b().rank;
    for (std::size_t i = 0; i < b().rank; ++i) {
      const bool rows = a().extent && missing + i == 0;
      if (rows ? !b().extent && b().dims[i] != 1 : a().dims[missing + i] % b().dims[i] != 0) {
        return {};
      }
    }
    return given(!b().extent || missing == 0, with_same(a()));
  }

  std::optional<Type> gated() const {
    if (!floats(0) || !a().rows() || a().rank < 2) {
      return {};
    }
    if (has(1)) {
      return given(floats(1) && b().rows() && a().same_shape(b()), with_same(a()));
    }
    return given(a().back() % 2 == 0, with_back(a(), a().back() / 2));
  }

  std::optional<Type> matmul() const {
    if (!floats(0) || !has(1) || a().rank < 2 || !a().rows() || b().rank != 2 || b().extent ||
        b().kind == Kind::i32 || !b().rows() || (b().kind == Kind::q8_0 && !b().contiguous()) ||
        a().back() != b().back()) {
      return {};
    }
    const Type y = with_back(a(), b().dims[0]);
    return given(
        !has(2) || is_row_of(c(), y.back()) || (floats(2) && c().contiguous() && c().same_shape(y)),
        y);
  }

  std::optional<Type> attention() const {
    if (!floats(0) || !has(1) || !has(2) || a().rank != 3 || b().rank != 3 || c().rank != 3 ||
        b().kind != c().kind || b().extent || c().extent || !a().rows() || !b().rows() ||
        !c().rows() || (b().kind != Kind::f32 && b().kind != Kind::f16) ||
        a().dims[2] != b().dims[2] || b().dims[0] != c().dims[0] || b().dims[1] != c().dims[1] ||
        a().dims[1] % b().dims[1] != 0) {
      return {};
    }
    return given(!has(3) || (at(3).dims[0] == a().dims[0] && at(3).dims[1] == b().dims[0] &&
                             at(3).extent == a().extent),
                 with_back(a(), c().dims[2]));
  }

  std::optional<Type> rope() const {
    if (!floats(0) || a().rank != 3 || !a().rows() || a().back() % 2 != 0) {
      return {};
    }
    if (static_cast<Place>(op_.numbers[0]) != Place::ids) {
      return with_same(a());
    }
    return given(has(1) && b().kind == Kind::i32 && b().rank == 1 && b().contiguous() &&
                     b().dims[0] == a().dims[0] && b().extent == a().extent,
                 with_same(a()));
  }

  std::optional<Type> set_rows() const {
    if (!floats(1) || (a().kind != Kind::f32 && a().kind != Kind::f16) || a().rank < 2 ||
        b().rank < 2 || a().extent || !a().contiguous() || per_row(a()) != per_row(b()) ||
        a().storage == b().storage || !writable(a())) {
      return {};
    }
    const std::int64_t rows = b().dims[0], capacity = a().dims[0];
    switch (static_cast<Place>(op_.numbers[0])) {
      case Place::constant:
        return given(op_.numbers[1] + rows <= capacity, Type());
      case Place::position:
        return Type();
      case Place::ring:
        return given(rows <= capacity, Type());
      case Place::ids:
        return given(has(2) && c().kind == Kind::i32 && c().rank == 1 && c().different &&
                         c().dims[0] == rows && c().extent == b().extent && c().contiguous() &&
                         c().storage != a().storage,
                     Type());
    }
    return {};
  }

  std::optional<Type> get_rows() const {
    if (a().rank != 2 || !a().contiguous() || a().kind == Kind::i32) {
      return {};
    }
    const auto field = static_cast<RowField>(op_.numbers[0]);
    const Type one = contiguous(Kind::f32, {1, a().back()});
    switch (field) {
      case RowField::ids:
        return given(!a().extent && has(1) && b().kind == Kind::i32 && b().rank == 1 &&
                         b().contiguous() && b().below <= a().dims[0],
                     contiguous(Kind::f32, {b().dims[0], a().back()}, b().extent));
      case RowField::number:
        return given(!a().extent && a().dims[0] >= kTable, one);
      case RowField::token:
        return given(!a().extent && a().dims[0] >= kTokens, one);
      case RowField::last:
        return given(a().extent || a().dims[0] >= program_.setup.bucket, one);
    }
    return {};
  }

  std::optional<Type> reduce() const {
    if (op_.numbers[0] == 3) {
      return given(floats(0) && !a().extent, contiguous(Kind::f32, {1}));
    }
    return given(floats(0) && a().rank > 1, with_back(a(), 1));
  }

  std::optional<Type> argmax() const {
    if (!floats(0) || a().rank != 2) {
      return {};
    }
    Type type = contiguous(Kind::i32, {a().dims[0]}, a().extent);
    type.below = a().back();
    return type;
  }

  /// Ops that move elements of any kind, and views.
  std::optional<Type> moved() const {
    const bool blocks = a().kind == Kind::q8_0;
    if (blocks && op_.kind != OpKind::copy && op_.kind != OpKind::cast) {
      return {};
    }
    Type type = with_back(a(), a().back(), a().kind);
    type.below = a().below;
    type.different = a().different;
    switch (op_.kind) {
      case OpKind::copy:
        return type;
      case OpKind::cast: {
        type.kind = static_cast<Kind>(op_.numbers[0]);
        const bool up = type.kind == Kind::f32 && (a().kind == Kind::f16 || blocks);
        const bool down = a().kind == Kind::f32 &&
                          (type.kind == Kind::f16 ||
                           (type.kind == Kind::q8_0 && a().back() % 32 == 0 && a().rank > 1));
        return given(up || down, type);
      }
      case OpKind::concat:
        return concat();
      case OpKind::repeat:
        type = with_back(a(), a().back() * op_.numbers[0], a().kind);
        type.below = a().below;
        return given(!a().extent || a().rank > 1, type);
      case OpKind::pad:
        type = with_back(a(), a().back() + op_.numbers[0] + op_.numbers[1], a().kind);
        type.below = a().below;
        return given(!a().extent || a().rank > 1, type);
      case OpKind::slice:
        return slice();
      case OpKind::reshape:
        return reshape();
      case OpKind::permute:
        return permute();
      default:
        return {};
    }
  }

  std::optional<Type> concat() const {
    const auto dim = static_cast<std::size_t>(op_.numbers[0]);
    if (!has(1) || a().kind != b().kind || a().rank != b().rank || dim >= a().rank ||
        a().extent != b().extent || (a().extent && dim == 0)) {
      return {};
    }
    for (std::size_t i = 0; i < a().rank; ++i) {
      if (i != dim && a().dims[i] != b().dims[i]) {
        return {};
      }
    }
    Dims dims(a().dims.begin(), a().dims.begin() + static_cast<std::ptrdiff_t>(a().rank));
    dims[dim] += b().dims[dim];
    Type type = contiguous(a().kind, dims, a().extent);
    type.below = std::max(a().below, b().below);
    return given(type.elements() <= 4096, type);
  }

  Type view() const {
    Type type = a();
    type.view = true;
    return type;
  }

  std::optional<Type> slice() const {
    const auto dim = static_cast<std::size_t>(op_.numbers[0]);
    const std::int64_t start = op_.numbers[1], length = op_.numbers[2];
    if (dim >= a().rank || (a().extent && dim == 0) || length < 1 || start < 0 ||
        start + length > a().dims[dim]) {
      return {};
    }
    Type type = view();
    type.dims[dim] = length;
    type.offset += start * a().strides[dim];
    return type;
  }

  std::optional<Type> reshape() const {
    if (!a().contiguous()) {
      return {};
    }
    Type type;
    switch (static_cast<Form>(op_.numbers[0])) {
      case Form::heads:
        if (a().rank != 2 || a().back() != kColumns) {
          return {};
        }
        type = contiguous(a().kind, {a().dims[0], kHeads, kHead}, a().extent);
        break;
      case Form::columns:
        if (a().rank != 3) {
          return {};
        }
        type = contiguous(a().kind, {a().dims[0], a().dims[1] * a().dims[2]}, a().extent);
        break;
      case Form::flat:
      case Form::row:
        if (a().extent || a().elements() > 1024) {
          return {};
        }
        type = static_cast<Form>(op_.numbers[0]) == Form::flat
                   ? contiguous(a().kind, {a().elements()})
                   : contiguous(a().kind, {1, a().elements()});
        break;
    }
    type.storage = a().storage;
    type.offset = a().offset;
    type.view = true;
    type.below = a().below;
    type.different = a().different;
    return type;
  }

  std::optional<Type> permute() const {
    Type type = view();
    const auto exchange = [&](std::size_t i, std::size_t j) {
      std::swap(type.dims[i], type.dims[j]);
      std::swap(type.strides[i], type.strides[j]);
    };
    if (a().rank == 2 && op_.numbers[0] == 0 && !a().extent) {
      exchange(0, 1);
    } else if (a().rank == 3 && op_.numbers[0] == 1) {
      exchange(1, 2);
    } else if (a().rank == 3 && op_.numbers[0] == 2 && !a().extent) {
      exchange(0, 1);
    } else {
      return {};
    }
    return type;
  }

  const Op& op_;
  const std::vector<Type>& before_;
  const Program& program_;
};

}  // namespace

std::optional<Type> infer(const Op& op, const std::vector<Type>& before, const Program& program) {
  std::optional<Type> type = Inference(op, before, program).result();
  if (type && !type->view) {
    type->storage = static_cast<int>(before.size());
  }
  return type;
}

}  // namespace reprise::crossed
