#include <algorithm>
#include <cstring>

#include "tests/golden_runner/runs.h"

namespace golden {
namespace {

using reprise::DType;
using reprise::Tensor;

constexpr std::uint64_t kGuardBytes = 256;
constexpr std::byte kGuard{0xA5};

/// The tensors of one case in one session, and the way to set them again before a replay.
class Bench {
 public:
  Bench(const reprise::Device& device, reprise::GraphSession& session)
      : session_(session), device_(device) {}

  reprise::GraphSession& session() { return session_; }
  Tensor input(const GoldenTensor& from, const reprise::Shape& shape) {
    inputs_.push_back(&from);
    return session_.input(from.name, shape, from.dtype, from.bytes);
  }
  Tensor input(const GoldenTensor& from, std::size_t min_rank = 1) {
    return input(from, from.shape(min_rank));
  }
  /// A persistent tensor that the case writes in place.
  Tensor table(const GoldenTensor& from) {
    const reprise::TensorSpec spec(from.shape(2), from.dtype);
    const auto buffer = device_.backend().allocate(from.name, spec.bytes() + 2 * kGuardBytes,
                                                   reprise::BufferKind::device);
    tables_.push_back({&from, buffer});
    write(tables_.back());
    return Tensor::over(buffer, spec, kGuardBytes, from.name);
  }

  void restore(reprise::CapturedGraph& graph, bool zeros) const {
    for (const GoldenTensor* from : inputs_) {
      const std::vector<std::byte> none(zeros ? from->bytes.size() : 0);
      graph.set(from->name, from->dtype, zeros ? std::span<const std::byte>(none) : from->bytes);
    }
    std::ranges::for_each(tables_, [this](const Table& t) { write(t); });
  }
  void check_guards() const {
    for (const Table& t : tables_) {
      for (const std::uint64_t at : {std::uint64_t{0}, kGuardBytes + t.from->bytes.size()}) {
        std::vector<std::byte> band(kGuardBytes);
        device_.read(t.buffer, at, band);
        if (std::ranges::count(band, kGuard) != static_cast<std::ptrdiff_t>(band.size())) {
          reprise::invalid("Bytes beside '" + t.from->name + "' were written.");
        }
      }
    }
  }

 private:
  struct Table {
    const GoldenTensor* from;
    std::shared_ptr<reprise::Buffer> buffer;
  };
  void write(const Table& t) const {
    std::vector<std::byte> bytes(t.from->bytes.size() + 2 * kGuardBytes, kGuard);
    std::ranges::copy(t.from->bytes, bytes.begin() + kGuardBytes);
    device_.write(t.buffer, 0, bytes);
  }

  reprise::GraphSession& session_;
  const reprise::Device& device_;
  std::vector<const GoldenTensor*> inputs_;
  std::vector<Table> tables_;
};

/// ggml's permute of a tensor of rank 4: result.ne[axes[i]] = x.ne[i].
Tensor ggml_permute(Bench& b, const Tensor& x, const std::array<std::int64_t, 4>& axes) {
  std::array<std::size_t, 4> from{4, 4, 4, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    from[3 - static_cast<std::size_t>(axes[i])] = 3 - i;
  }
  return permute(b.session(), x, {from[0], from[1], from[2], from[3]});
}

Tensor mul_mat(Bench& b, const GoldenCase& c) {
  const GoldenTensor& x = c.input("b");
  if (c.params.contains("permute_a")) {
    const GoldenTensor& stored = c.input("a_stored");
    need_dtype(stored, {DType::f32, DType::f16});  // blocks lie one after another
    const Tensor w = ggml_permute(b, b.input(stored, 4), c.extents("permute_a", 0, 3));
    return matmul(b.session(), b.input(x, 4), w);
  }
  const GoldenTensor& w = c.input("a");
  const std::size_t rank = std::max(w.shape(2).rank(), x.shape(2).rank());
  return matmul(b.session(), b.input(x, rank), b.input(w, rank));
}

Tensor mul_mat_id(Bench& b, const GoldenCase& c) {
  const Tensor x = b.input(c.input("b"), 3);
  const Tensor w = b.input(c.input("as"), 3);
  return matmul_experts(b.session(), x, w, b.input(c.input("ids"), 2));
}

Tensor rms_norm_case(Bench& b, const GoldenCase& c) {
  const Tensor x = b.input(c.input("x"), 2);
  const Tensor weight = c.op == "rms_norm_mul" ? b.input(c.input("w")) : Tensor();
  return rms_norm(b.session(), x, weight, {.eps = c.real("eps")});
}

Tensor rope_case(Bench& b, const GoldenCase& c) {
  if (c.real("ext_factor") != 0 || c.real("attn_factor") != 1) {
    throw Skip("yarn");
  }
  const GoldenTensor& x = c.input("x");
  need_dtype(x, {DType::f32});
  const std::string mode = c.text("mode");
  if (mode != "normal" && mode != "neox") {
    throw Skip("rope mode " + mode);
  }
  const GoldenTensor* factors = c.find_input("freq_factors");
  const Tensor positions = b.input(c.input("pos"));
  const Tensor divisors = factors == nullptr ? Tensor() : b.input(*factors);
  return rope(b.session(), b.input(x, 3),
              {.base = c.real("freq_base"),
               .scale = c.real("freq_scale"),
               .dims = static_cast<std::int32_t>(c.integer("n_dims", 1, x.ne[0])),
               .pairing = mode == "normal" ? reprise::RopePairing::interleaved
                                           : reprise::RopePairing::half_split,
               .positions = &positions,
               .frequency_factors = divisors ? &divisors : nullptr});
}

Tensor flash_attn(Bench& b, const GoldenCase& c) {
  if (c.real("logit_softcap") != 0 || c.real("max_bias") != 0 || c.find_input("sinks") != nullptr) {
    throw Skip("softcap, alibi or sinks");
  }
  const auto by_row = [&](const GoldenTensor& heads_first) {
    need_dtype(heads_first, {DType::f32, DType::f16});
    return permute(b.session(), b.input(heads_first, 3), {1, 0, 2});
  };
  const GoldenTensor* from = c.find_input("mask");
  const Tensor mask = from == nullptr ? Tensor() : b.input(*from, 2);
  const Tensor q = by_row(c.input("q"));
  const Tensor k = by_row(c.input("k"));
  const Tensor v = by_row(c.input("v"));
  return attention(b.session(), q, k, v,
                   {.scale = c.real("scale"), .causal = false, .mask = mask ? &mask : nullptr});
}

Tensor get_rows_case(Bench& b, const GoldenCase& c) {
  const Tensor table = b.input(c.input("table"), 2);
  return get_rows(b.session(), table, b.input(c.input("ids"), table.shape().rank() - 1));
}

Tensor set_rows_case(Bench& b, const GoldenCase& c) {
  Tensor table = b.table(c.input("dst_before"));
  const Tensor ids = b.input(c.input("row_ids"));
  set_rows(b.session(), table, b.input(c.input("src"), 2), ids);
  return table;
}

Tensor swiglu(Bench& b, const GoldenCase& c) {
  return silu_mul(b.session(), b.input(c.input("x"), 2));
}

Tensor swiglu_split(Bench& b, const GoldenCase& c) {
  const Tensor gate = b.input(c.input("gate"), 2);
  return silu_mul(b.session(), gate, b.input(c.input("up"), 2));
}

Tensor elementwise(Bench& b, const GoldenCase& c) {
  const Tensor x = b.input(c.input("a"), 4);
  const Tensor y = b.input(c.input("b"), 4);
  return c.op == "add" ? add(b.session(), x, y) : mul(b.session(), x, y);
}

Tensor argmax_case(Bench& b, const GoldenCase& c) {
  return argmax(b.session(), b.input(c.input("x"), 2));
}

Tensor cont_permute(Bench& b, const GoldenCase& c) {
  need_dtype(c.input("x"), {DType::f32, DType::f16, DType::i32});
  return copy(b.session(), ggml_permute(b, b.input(c.input("x"), 4), c.extents("axes", 0, 3)));
}

Tensor cont_view(Bench& b, const GoldenCase& c) {
  need_dtype(c.input("x"), {DType::f32, DType::f16, DType::i32});
  const auto start = c.extents("start", 0, c.input("x").elements());
  const auto length = c.extents("ne", 1, c.input("x").elements());
  Tensor view = b.input(c.input("x"), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    view = slice(b.session(), view, 3 - i, start[i], length[i]);
  }
  return copy(b.session(), view);
}

Tensor cast_case(Bench& b, const GoldenCase& c) {
  return cast(b.session(), b.input(c.input("x")), c.outputs[0].dtype);
}

Tensor concat_case(Bench& b, const GoldenCase& c) {
  const Tensor first = b.input(c.input("a"), 4);
  const auto dim = static_cast<std::size_t>(3 - c.integer("dim", 0, 3));
  return concat(b.session(), first, b.input(c.input("b"), 4), dim);
}

Tensor repeat_case(Bench& b, const GoldenCase& c) {
  return repeat(b.session(), b.input(c.input("x")), c.outputs[0].shape());
}

Tensor build(Bench& b, const GoldenCase& c) {
  struct Row {
    std::string_view op;
    Tensor (*build)(Bench&, const GoldenCase&);
  };
  static constexpr Row kRows[] = {
      {"mul_mat", mul_mat},        {"mul_mat_id", mul_mat_id},
      {"rms_norm", rms_norm_case}, {"rms_norm_mul", rms_norm_case},
      {"rope", rope_case},         {"flash_attn", flash_attn},
      {"get_rows", get_rows_case}, {"set_rows", set_rows_case},
      {"swiglu", swiglu},          {"swiglu_split", swiglu_split},
      {"add", elementwise},        {"mul", elementwise},
      {"argmax", argmax_case},     {"cont_permute", cont_permute},
      {"cont_view", cont_view},    {"cast", cast_case},
      {"concat", concat_case},     {"repeat", repeat_case},
  };
  const auto* const row = std::ranges::find(kRows, c.op, &Row::op);
  if (row == std::end(kRows)) {
    throw Skip("no op " + c.op);
  }
  Tensor result = row->build(b, c);
  const GoldenTensor& expected = c.outputs[0];
  if (result.dtype() != expected.dtype || result.shape().elements() != expected.elements()) {
    reprise::invalid("The result is (" + to_string(result.spec()) + "), but the case has " +
                     to_string(reprise::TensorSpec(expected.shape(), expected.dtype)) + ".");
  }
  return result;
}

/// Rows of a table that no id names must keep their bits; nmse alone would forgive small changes.
void check_other_rows(const GoldenCase& c, std::span<const std::byte> after) {
  const GoldenTensor& before = c.input("dst_before");
  const GoldenTensor& ids = c.input("row_ids");
  const std::size_t id_bytes = ids.dtype == DType::i64 ? 8 : 4;
  const auto named = [&](std::int64_t row) {
    for (std::size_t at = 0; at < ids.bytes.size(); at += id_bytes) {
      std::int64_t id = 0;  // a negative i32 reads as a number no row has
      std::memcpy(&id, ids.bytes.data() + at, id_bytes);
      if (id == row) {
        return true;
      }
    }
    return false;
  };
  const std::size_t row_bytes =
      reprise::bytes_of(before.dtype, static_cast<std::uint64_t>(before.ne[0]));
  for (std::int64_t row = 0; row < before.elements() / before.ne[0]; ++row) {
    const auto part = [&](std::span<const std::byte> all) {
      return all.subspan(static_cast<std::size_t>(row) * row_bytes, row_bytes);
    };
    if (!named(row) && !std::ranges::equal(part(before.bytes), part(after))) {
      reprise::invalid("The row (" + std::to_string(row) + ") changed, but no id names it.");
    }
  }
}

}  // namespace

void need_dtype(const GoldenTensor& tensor, std::initializer_list<DType> supported) {
  if (std::ranges::find(supported, tensor.dtype) == supported.end()) {
    throw Skip("dtype " + std::string(name_of(tensor.dtype)) + " of " + tensor.name);
  }
}

Results run_op_case(const reprise::Device& device, const GoldenCase& c, const How& how) {
  reprise::GraphExecutor executor(device, {.precision = how.precision});
  auto session = how.mode == Mode::direct ? executor.begin({.name = c.name})
                                          : executor.begin_recorded({.name = c.name});
  Bench bench(device, session);
  const std::string& output = c.outputs[0].name;
  session.output(output, build(bench, c));
  reprise::FinishResult finished = session.finish();
  const auto first = finished.read<std::byte>(output);
  if (how.mode == Mode::recorded) {
    for (const bool zeros : {false, true, false}) {
      bench.restore(finished.graph, zeros);
      finished.graph.launch();
      if (!zeros && finished.graph.read<std::byte>(output) != first) {
        reprise::invalid("A replay differs from the run inside finish().");
      }
    }
  }
  bench.check_guards();
  if (c.op == "set_rows") {
    check_other_rows(c, first);
  }
  return {{output, first}};
}

}  // namespace golden
