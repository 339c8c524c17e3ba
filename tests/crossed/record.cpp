#include "tests/crossed/record.h"

#include <algorithm>

#include "tests/crossed/meaning.h"
#include "tests/crossed/types.h"
#include "tests/session/custom_kernels.h"

namespace reprise::crossed {
namespace {

class Recording {
 public:
  Recording(GraphSession& session, const Program& program, const Surroundings& surroundings)
      : s_(session),
        program_(program),
        surroundings_(surroundings),
        values_(static_cast<std::size_t>(kLeaves)) {}

  void record() {
    for (const Op& op : program_.ops) {
      op_ = &op;
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const bool placed = op.kind == OpKind::experts && i == 2 && program_.setup.placed_experts;
        if (op.operands[i] >= 0 && !placed) {
          static_cast<void>(value(op.operands[i]));
        }
      }
      values_.push_back(call());
    }
    for (const int output : program_.outputs) {
      s_.output(name_of_value(output), value(output));
    }
  }

 private:
  const Tensor& value(int id) {
    Tensor& tensor = values_[static_cast<std::size_t>(id)];
    if (!tensor) {
      tensor = leaf(static_cast<Leaf>(id));
    }
    return tensor;
  }

  Tensor leaf(Leaf leaf) {
    const Type type = type_of(leaf, program_.setup);
    const DType dtype = dtype_of(type.kind);
    Shape shape = shape_of(leaf, program_.setup);
    if (type.extent) {
      shape = shape.with_extent(s_.extent("rows").word);
    }
    if (leaf == Leaf::gains || leaf == Leaf::picks || leaf == Leaf::notes) {
      return s_.state_array(name_of(leaf));
    }
    if (surroundings_.by_name) {
      return is_weight(leaf) ? s_.param(name_of(leaf), shape, dtype)
                             : s_.input(name_of(leaf), shape, dtype);
    }
    return is_input(leaf) ? s_.input(name_of(leaf), shape, dtype) : surroundings_.tensors.at(leaf);
  }

  bool has(std::size_t i) const { return op_->operands[i] >= 0; }
  const Tensor& operand(std::size_t i) {
    return values_[static_cast<std::size_t>(op_->operands[i])];
  }
  const Tensor& a() { return operand(0); }
  const Tensor& b() { return operand(1); }
  Tensor optional(std::size_t i) { return has(i) ? operand(i) : Tensor(); }
  int number(std::size_t i) const { return op_->numbers[i]; }
  Param<float> factor(float constant) {
    return number(1) != 0 ? Param<float>(s_.state("factor")) : Param<float>(constant);
  }

  Tensor call() {
    switch (op_->kind) {
      case OpKind::binary:
        return binary();
      case OpKind::unary:
        return unary();
      case OpKind::gated:
        return gated();
      case OpKind::scalar:
        return scalar();
      case OpKind::matmul:
        return matmul(s_, a(), b(), optional(2));
      case OpKind::rms_norm:
        return rms_norm(s_, a(), optional(1));
      case OpKind::softmax:
        return softmax(
            s_, a(),
            {.scale = number(0) != 0 ? Param<float>(s_.state("factor")) : Param<float>(1.0F)});
      case OpKind::attention:
        return attend();
      case OpKind::rope:
        return turn();
      case OpKind::set_rows:
        put_rows();
        return {};
      case OpKind::get_rows:
        return rows_of();
      case OpKind::reduce:
        return reduce();
      case OpKind::argmax:
        return argmax(s_, a());
      case OpKind::cumsum:
        return cumsum(s_, a());
      case OpKind::experts:
        return experts();
      case OpKind::advance:
        advance(s_, a(),
                {.position = s_.state("pos"),
                 .token = s_.state("token"),
                 .done = program_.setup.stops ? s_.state("done") : StateField(),
                 .rows = s_.state("rows"),
                 .end_token = kEndToken});
        return {};
      case OpKind::custom:
        return testing::call(s_, surroundings_.product, a(), b());
      case OpKind::accumulate:
        testing::accumulate(s_, surroundings_.accumulate, a(), b(), s_.state("factor"));
        return {};
      case OpKind::host_step:
        return on_host();
      default:
        return moved();
    }
  }

  Tensor binary() {
    switch (number(0)) {
      case 0:
        return add(s_, a(), b());
      case 1:
        return sub(s_, a(), b());
      case 2:
        return mul(s_, a(), b());
      default:
        return div(s_, a(), b());
    }
  }

  Tensor unary() {
    constexpr std::array kFunctions{silu,    gelu,          gelu_quick, relu,
                                    sigmoid, reprise::tanh, neg,        reprise::sin};
    return kFunctions[static_cast<std::size_t>(number(0))](s_, a());
  }

  Tensor gated() {
    switch (number(0)) {
      case 0:
        return has(1) ? silu_mul(s_, a(), b()) : silu_mul(s_, a());
      case 1:
        return has(1) ? gelu_mul(s_, a(), b()) : gelu_mul(s_, a());
      default:
        return has(1) ? sigmoid_mul(s_, a(), b()) : sigmoid_mul(s_, a());
    }
  }

  Tensor scalar() {
    switch (number(0)) {
      case 0:
        return scale(s_, a(), {.scale = factor(0.75F), .bias = number(1) != 0 ? 0.25F : -0.5F});
      case 1:
        return clamp(s_, a(), {.min = -0.5F, .max = factor(0.75F)});
      default:
        return softcap(s_, a(), {.cap = factor(1.5F)});
    }
  }

  Tensor attend() {
    AttentionAttributes attributes{.causal = (number(1) & kCausal) != 0};
    switch (static_cast<KeyCount>(number(0))) {
      case KeyCount::length:
        attributes.kv_len = s_.state("length");
        break;
      case KeyCount::past:
        attributes.past = Param<std::int32_t>(s_.state("pos"));
        break;
      case KeyCount::constant:
        attributes.kv_len = 7;
        break;
      case KeyCount::all:
        break;
    }
    attributes.window = (number(1) & kWindow) != 0 ? 3 : 0;
    attributes.softcap = (number(1) & kSoftcap) != 0 ? 2.0F : 0.0F;
    attributes.mask = optional(3);
    return attention(s_, a(), b(), operand(2), attributes);
  }

  Tensor turn() {
    RopeAttributes attributes{.pairing = number(1) != 0 ? RopePairing::half_split
                                                        : RopePairing::interleaved};
    switch (static_cast<Place>(number(0))) {
      case Place::constant:
        attributes.position = 3;
        break;
      case Place::ids:
        attributes.positions = b();
        break;
      default:
        attributes.position = s_.state("pos");
    }
    return rope(s_, a(), attributes);
  }

  void put_rows() {
    switch (static_cast<Place>(number(0))) {
      case Place::constant:
        set_rows(s_, a(), b(), SetRowsAttributes{.position = number(1)});
        break;
      case Place::position:
        set_rows(s_, a(), b(), SetRowsAttributes{.position = s_.state("pos")});
        break;
      case Place::ring:
        set_rows(s_, a(), b(),
                 SetRowsAttributes{.position = s_.state("pos"), .window = a().shape().dim(0)});
        break;
      case Place::ids:
        set_rows(s_, a(), b(), operand(2));
        break;
    }
  }

  Tensor rows_of() {
    switch (static_cast<RowField>(number(0))) {
      case RowField::ids:
        return get_rows(s_, a(), b());
      case RowField::number:
        return get_rows(s_, a(), s_.state("number"));
      case RowField::token:
        return get_rows(s_, a(), s_.state("token"));
      case RowField::last:
        break;
    }
    return get_rows(s_, a(), s_.state("last"));
  }

  Tensor reduce() {
    switch (number(0)) {
      case 0:
        return sum_rows(s_, a());
      case 1:
        return mean(s_, a());
      case 2:
        return reprise::max(s_, a());
      default:
        return sum(s_, a());
    }
  }

  Tensor experts() {
    const Tensor x = a();
    const Tensor logits = matmul(s_, x, value(id_of(Leaf::router)));
    const RoutedExperts routed = route_top_k(
        s_, logits,
        {.k = kUsedExperts, .gate = number(0) != 0 ? ExpertGate::sigmoid : ExpertGate::softmax});
    const Tensor row = reshape(s_, x, {x.shape().extent(0), 1, kColumns});
    const Tensor y =
        program_.setup.placed_experts
            ? s_.experts("layer." + std::to_string(layers_++), routed.ids,
                         [&](const PlacedExperts& placed) { return placed.matmul(s_, row, "up"); })
            : matmul_experts(s_, row, value(id_of(Leaf::experts)), routed.ids);
    return combine_experts(s_, y, routed.weights);
  }

  Tensor on_host() {
    const TensorSpec spec(a().shape(), DType::f32);
    return host_step(s_, "twice_and_one", {a()}, {spec}, [](const HostStepCall& call) {
      const auto x = call.input<float>(0);
      std::ranges::transform(x, call.output<float>(0).begin(), [](float v) { return 2 * v + 1; });
    })[0];
  }

  Tensor moved() {
    switch (op_->kind) {
      case OpKind::copy:
        return copy(s_, a());
      case OpKind::cast:
        return cast(s_, a(), dtype_of(static_cast<Kind>(number(0))));
      case OpKind::concat:
        return concat(s_, a(), b(), static_cast<std::size_t>(number(0)));
      case OpKind::repeat: {
        Shape shape = a().shape();
        return repeat(s_, a(), shape.with_back(shape.back() * number(0)));
      }
      case OpKind::pad: {
        PadAttributes attributes;
        attributes.before[a().shape().rank() - 1] = number(0);
        attributes.after[a().shape().rank() - 1] = number(1);
        return pad(s_, a(), attributes);
      }
      case OpKind::slice:
        return slice(s_, a(), static_cast<std::size_t>(number(0)), number(1), number(2));
      case OpKind::reshape:
        return reshaped();
      default:
        break;
    }
    return a().shape().rank() == 2 ? permute(s_, a(), {1, 0})
           : number(0) == 1        ? permute(s_, a(), {0, 2, 1})
                                   : permute(s_, a(), {1, 0, 2});
  }

  Tensor reshaped() {
    const Shape shape = a().shape();
    switch (static_cast<Form>(number(0))) {
      case Form::heads:
        return reshape(s_, a(), {shape.extent(0), kHeads, kHead});
      case Form::columns:
        return reshape(s_, a(), {shape.extent(0), shape.dim(1) * shape.dim(2)});
      case Form::flat:
        return reshape(s_, a(), {shape.elements()});
      case Form::row:
        break;
    }
    return reshape(s_, a(), {1, shape.elements()});
  }

  GraphSession& s_;
  const Program& program_;
  const Surroundings& surroundings_;
  const Op* op_ = nullptr;
  std::vector<Tensor> values_;
  int layers_ = 0;  // of experts so far
};

}  // namespace

StateLayout layout_of(const Setup& setup) {
  StateLayout layout;
  layout.host("rows", setup.bucket)
      .host("number")
      .host_f32("factor", 0.5F)
      .carried("pos")
      .carried("token", 3)
      .carried("done")
      .derived("length", field("pos") + field("rows"))
      .derived("last", field("rows") + -1)
      .array_f32("gains", kColumns)
      .array("picks", 4)
      .carried_array_f32("notes", kColumns);
  if (setup.stops) {
    layout.stop_when("done");
  }
  return layout;
}

bool is_input(Leaf leaf) { return leaf <= Leaf::memory; }
bool is_weight(Leaf leaf) { return leaf >= Leaf::norm && leaf <= Leaf::experts; }
bool is_written(Leaf leaf) { return leaf >= Leaf::table && leaf <= Leaf::halves; }

DType dtype_of(Kind kind) {
  switch (kind) {
    case Kind::f16:
      return DType::f16;
    case Kind::q8_0:
      return DType::q8_0;
    case Kind::i32:
      return DType::i32;
    default:
      return DType::f32;
  }
}

Kind kind_of(DType dtype) {
  return dtype == DType::f16    ? Kind::f16
         : dtype == DType::q8_0 ? Kind::q8_0
         : dtype == DType::i32  ? Kind::i32
                                : Kind::f32;
}

Shape shape_of(Leaf leaf, const Setup& setup) {
  const Type type = type_of(leaf, setup);
  return Shape(std::span<const std::int64_t>(type.dims).first(type.rank));
}

void record(GraphSession& session, const Program& program, const Surroundings& surroundings) {
  Recording(session, program, surroundings).record();
}

}  // namespace reprise::crossed
