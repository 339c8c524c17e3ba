#include "tests/crossed/types.h"

#include <algorithm>

namespace reprise::crossed {

Type contiguous(Kind kind, const Dims& dims, bool extent) {
  Type type;
  type.kind = kind;
  type.rank = dims.size();
  type.extent = extent;
  std::int64_t step = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    type.dims[i] = dims[i];
    type.strides[i] = step;
    step *= dims[i];
  }
  return type;
}

std::int64_t Type::elements() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    count *= dims[i];
  }
  return count;
}

bool Type::contiguous() const {
  std::int64_t step = 1;
  for (std::size_t i = rank; i-- > 0;) {
    if (dims[i] != 1 && strides[i] != step) {
      return false;
    }
    step *= dims[i];
  }
  return true;
}

bool Type::same_shape(const Type& other) const {
  return rank == other.rank && extent == other.extent && dims == other.dims;
}

Type type_of(Leaf leaf, const Setup& setup) {
  const std::int64_t rows = setup.bucket;
  const auto make = [&] {
    switch (leaf) {
      case Leaf::x:
      case Leaf::y:
        return contiguous(Kind::f32, {rows, kColumns}, setup.extent);
      case Leaf::ids:
        return contiguous(Kind::i32, {rows}, setup.extent);
      case Leaf::mask:
        return contiguous(Kind::f32, {rows, kTable}, setup.extent);
      case Leaf::memory:
        return contiguous(Kind::f32, {1, kColumns});
      case Leaf::norm:
      case Leaf::gains:
      case Leaf::notes:
        return contiguous(Kind::f32, {kColumns});
      case Leaf::picks:
        return contiguous(Kind::i32, {4});
      case Leaf::w:
        return contiguous(Kind::f32, {kColumns, kColumns});
      case Leaf::w_half:
        return contiguous(Kind::f16, {kColumns, kColumns});
      case Leaf::w_blocks:
        return contiguous(Kind::q8_0, {kColumns, kColumns});
      case Leaf::embedding:
        return contiguous(Kind::f32, {kTokens, kColumns});
      case Leaf::embedding_half:
        return contiguous(Kind::f16, {kTokens, kColumns});
      case Leaf::router:
        return contiguous(Kind::f32, {kExperts, kColumns});
      case Leaf::experts:
        return contiguous(Kind::f32, {kExperts, kColumns, kColumns});
      case Leaf::table:
        return contiguous(Kind::f32, {kTable, kColumns});
      case Leaf::keys:
      case Leaf::values:
        return contiguous(Kind::f32, {kTable, kHeads, kHead});
      case Leaf::halves:
        return contiguous(Kind::f16, {kTable, kHeads, kHead});
    }
    return Type();
  };
  Type type = make();
  type.storage = id_of(leaf);
  type.different = leaf == Leaf::ids || leaf == Leaf::picks;
  if (type.different) {
    type.below = kTable;
  }
  return type;
}

std::optional<std::vector<Type>> types_of(const Program& program) {
  std::vector<Type> types;
  for (int leaf = 0; leaf < kLeaves; ++leaf) {
    types.push_back(type_of(static_cast<Leaf>(leaf), program.setup));
  }
  for (const Op& op : program.ops) {
    const std::optional<Type> type = infer(op, types, program);
    if (!type) {
      return {};
    }
    types.push_back(*type);
  }
  for (const int output : program.outputs) {
    if (output >= static_cast<int>(types.size()) ||
        !may_be_output(types[static_cast<std::size_t>(output)])) {
      return {};
    }
  }
  if (program.fed >= 0 && (program.fed >= static_cast<int>(types.size()) ||
                           !may_be_fed(types[static_cast<std::size_t>(program.fed)]))) {
    return {};
  }
  return types;
}

bool may_be_output(const Type& type) {
  const bool weight = type.storage >= id_of(Leaf::norm) && type.storage <= id_of(Leaf::experts);
  return type.kind != Kind::none && type.contiguous() && !weight;
}

bool may_be_fed(const Type& type) {
  return type.kind == Kind::f32 && type.rank == 2 && type.dims[0] == 1 &&
         type.dims[1] == kColumns && !type.view && type.storage >= kLeaves && !type.extent;
}

bool may_be_written(int storage, const Setup& setup) {
  const auto leaf = static_cast<Leaf>(storage);
  if (storage >= kLeaves) {
    return true;
  }
  if (leaf == Leaf::x || leaf == Leaf::y) {
    return !setup.executable && !setup.extent;
  }
  return leaf == Leaf::table || leaf == Leaf::keys || leaf == Leaf::values ||
         leaf == Leaf::halves || leaf == Leaf::notes;
}

int written_by(const Op& op) {
  return op.kind == OpKind::set_rows     ? op.operands[0]
         : op.kind == OpKind::accumulate ? op.operands[1]
                                         : -1;
}

bool keeps_given_table(const Program& program) {
  const int table = id_of(Leaf::table);
  return std::ranges::find(program.outputs, table) != program.outputs.end() &&
         std::ranges::find(program.ops, table, written_by) != program.ops.end();
}

bool writes_an_input(const Program& program) {
  const std::optional<std::vector<Type>> types = types_of(program);
  return types && std::ranges::any_of(program.ops, [&](const Op& op) {
           const int written = written_by(op);
           const int storage =
               written < 0 ? -1 : (*types)[static_cast<std::size_t>(written)].storage;
           return storage == id_of(Leaf::x) || storage == id_of(Leaf::y);
         });
}

}  // namespace reprise::crossed
