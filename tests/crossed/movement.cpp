// What ops mean that move elements: copies, casts, rows of tables, views.
#include <algorithm>

#include "tests/crossed/operands.h"
#include "tests/crossed/rounding.h"

namespace reprise::crossed {
namespace {

class Movement : public Operands {
 public:
  using Operands::Operands;

  Array result() { return moved(); }

 private:
  /// As kept in memory of that kind.
  double stored(Kind kind, double value) const {
    return kind == Kind::f16
               ? rounded_to_half(value) + call_.noise.next() * 0x1p-11 * std::fabs(value)
               : value;
  }

  Array set_rows() {
    const Array &table = a(), &values = b();
    const std::int64_t capacity = table.dims[0], per_row = table.count() / capacity;
    for (std::int64_t row = 0; row < values.dims[0]; ++row) {
      std::int64_t to = 0;
      switch (static_cast<Place>(number(0))) {
        case Place::constant:
          to = number(1) + row;
          break;
        case Place::position:
          to = call_.state.position + row;
          break;
        case Place::ring:
          to = (call_.state.position + row) % capacity;
          break;
        case Place::ids:
          to = static_cast<std::int64_t>(operand(2).at(row));
          break;
      }
      for (std::int64_t i = 0; i < per_row && to >= 0 && to < capacity; ++i) {
        table.at(to * per_row + i) = stored(table.kind, values.at(row * per_row + i));
      }
    }
    return {};
  }

  Array get_rows() {
    Values rows;
    switch (static_cast<RowField>(number(0))) {
      case RowField::ids:
        rows = b().flat();
        break;
      case RowField::number:
        rows = {static_cast<double>(call_.state.number)};
        break;
      case RowField::token:
        rows = {static_cast<double>(call_.state.token)};
        break;
      case RowField::last:
        rows = {static_cast<double>(call_.state.last)};
        break;
    }
    Values y;
    for (const double row : rows) {
      for (std::int64_t i = 0; i < a().back(); ++i) {
        y.push_back(a().at(static_cast<std::int64_t>(row) * a().back() + i));
      }
    }
    return {Kind::f32, {static_cast<std::int64_t>(rows.size()), a().back()}, y};
  }

  Array cast() {
    const auto kind = static_cast<Kind>(number(0));
    Values values = a().flat();
    if (kind == Kind::f16) {
      std::ranges::transform(values, values.begin(), [&](double v) { return stored(kind, v); });
    } else if (kind == Kind::q8_0) {
      for (std::size_t at = 0; at < values.size(); at += 32) {
        const Block block = block_of(std::span(values).subspan(at, 32));
        for (std::size_t i = 0; i < 32; ++i) {
          values[at + i] = block.scale * (block.integers[i] + call_.noise.next());
        }
      }
    }
    return {kind, a().dims, values};
  }

  Array moved() {
    switch (call_.op.kind) {
      case OpKind::set_rows:
        return set_rows();
      case OpKind::get_rows:
        return get_rows();
      case OpKind::copy:
        return {a().kind, a().dims, a().flat()};
      case OpKind::cast:
        return cast();
      case OpKind::concat:
        return concat();
      case OpKind::repeat:
        return spread(a().back() * number(0), [&](std::int64_t c) { return c % a().back(); });
      case OpKind::pad:
        return spread(a().back() + number(0) + number(1),
                      [&](std::int64_t c) { return c - number(0); });
      case OpKind::slice:
        return slice();
      case OpKind::reshape:
        return reshape();
      default:
        return permute();
    }
  }

  /// Other columns: which of x, or zero outside of it.
  template <class F>
  Array spread(std::int64_t columns, F&& column_of) {
    Values y;
    for (std::int64_t row = 0; row < a().row_count(); ++row) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t from = column_of(c);
        y.push_back(from < 0 || from >= a().back() ? 0.0 : a().at(row * a().back() + from));
      }
    }
    return {a().kind, with_back(a(), columns), y};
  }

  Array concat() {
    const auto dim = static_cast<std::size_t>(number(0));
    std::int64_t inner_a = 1, inner_b = 1, outer = 1;
    for (std::size_t d = 0; d < a().dims.size(); ++d) {
      (d < dim ? outer : inner_a) *= a().dims[d];
      inner_b *= d < dim ? 1 : b().dims[d];
    }
    Values y;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner_a; ++i) {
        y.push_back(a().at(o * inner_a + i));
      }
      for (std::int64_t i = 0; i < inner_b; ++i) {
        y.push_back(b().at(o * inner_b + i));
      }
    }
    Dims dims = a().dims;
    dims[dim] += b().dims[dim];
    return {a().kind, dims, y};
  }

  Array slice() const {
    Array view = a();
    const auto dim = static_cast<std::size_t>(number(0));
    view.dims[dim] = number(2);
    view.offset += number(1) * view.strides[dim];
    return view;
  }

  Array reshape() const {
    Array view = a();
    switch (static_cast<Form>(number(0))) {
      case Form::heads:
        view.dims = {a().dims[0], kHeads, kHead};
        break;
      case Form::columns:
        view.dims = {a().dims[0], a().dims[1] * a().dims[2]};
        break;
      case Form::flat:
        view.dims = {a().count()};
        break;
      case Form::row:
        view.dims = {1, a().count()};
        break;
    }
    const Array laid_out(a().kind, view.dims, {});
    view.strides = laid_out.strides;
    return view;
  }

  Array permute() const {
    Array view = a();
    const std::size_t i = number(0) == 1 ? 1 : 0, j = number(0) == 1 ? 2 : 1;
    std::swap(view.dims[i], view.dims[j]);
    std::swap(view.strides[i], view.strides[j]);
    return view;
  }
};

}  // namespace

Array run_movement(const Call& call) { return Movement(call).result(); }

}  // namespace reprise::crossed
