#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "reprise/backend/backend.h"
#include "tests/golden_runner/elementwise_cases.h"
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
  const reprise::Device& device() const { return device_; }
  Tensor input(const GoldenTensor& from, const reprise::Shape& shape) {
    inputs_.push_back(&from);
    return session_.input(from.name, shape, from.dtype, from.bytes);
  }
  Tensor input(const GoldenTensor& from, std::size_t min_rank = 1) {
    return input(from, from.shape(min_rank));
  }
  /// Blocks of [heads, rows, columns] as [rows, heads, columns]: views of blocks keep their order.
  Tensor rows_first(const GoldenTensor& from) {
    const std::int64_t columns = from.ne[0];
    const auto row_bytes = reprise::bytes_of(from.dtype, static_cast<std::uint64_t>(columns));
    std::vector<std::byte>& bytes = moved_.emplace_back();
    for (std::int64_t row = 0; row < from.ne[1]; ++row) {
      for (std::int64_t head = 0; head < from.ne[2]; ++head) {
        const auto at = static_cast<std::size_t>(head * from.ne[1] + row) * row_bytes;
        const auto part = from.bytes.subspan(at, row_bytes);
        bytes.insert(bytes.end(), part.begin(), part.end());
      }
    }
    GoldenTensor& moved = moved_tensors_.emplace_back(from);
    moved.bytes = bytes;
    std::swap(moved.ne[1], moved.ne[2]);
    return input(moved, 3);
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
      graph.set_input(from->name, from->dtype,
                      zeros ? std::span<const std::byte>(none) : from->bytes);
    }
    std::ranges::for_each(tables_, [this](const Table& t) { write(t); });
  }
  void check_guards() const {
    for (const Table& t : tables_) {
      for (const std::uint64_t at : {std::uint64_t{0}, kGuardBytes + t.from->bytes.size()}) {
        std::vector<std::byte> band(kGuardBytes);
        device_.read(t.buffer, at, band);
        if (std::ranges::count(band, kGuard) != static_cast<std::ptrdiff_t>(band.size())) {
          reprise::throw_invalid_argument("Bytes beside '" + t.from->name + "' were written.");
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
  std::deque<std::vector<std::byte>> moved_;
  std::deque<GoldenTensor> moved_tensors_;
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

Tensor other_norms(Bench& b, const GoldenCase& c) {
  const Tensor x = b.input(c.input("x"), 2);
  return c.op == "norm" ? layer_norm(b.session(), x, {}, {}, {.eps = c.real("eps")})
                        : l2_norm(b.session(), x, {.eps = c.real("eps")});
}

Tensor soft_max(Bench& b, const GoldenCase& c) {
  const auto optional = [&](const char* name) {
    const GoldenTensor* from = c.find_input(name);
    return from == nullptr ? Tensor() : b.input(*from);
  };
  const Tensor mask = optional("mask");
  const Tensor sinks = optional("sinks");
  return softmax(
      b.session(), b.input(c.input("x"), 4),
      {.scale = c.real("scale"), .max_bias = c.real("max_bias"), .mask = mask, .sinks = sinks});
}

Tensor diag_mask_inf(Bench& b, const GoldenCase& c) {
  const auto n_past = static_cast<std::int32_t>(c.integer("n_past", 0, 1 << 20));
  return causal_mask(b.session(), b.input(c.input("x"), 2), {.n_past = n_past});
}

template <Tensor (*op)(reprise::Site, reprise::TensorRef)>
Tensor of_rows(Bench& b, const GoldenCase& c) {
  return op(b.session(), b.input(c.input("x"), 2));
}

Tensor argsort_case(Bench& b, const GoldenCase& c) {
  return argsort(b.session(), b.input(c.input("x"), 2), {.descending = c.text("order") == "desc"});
}

Tensor top_k_case(Bench& b, const GoldenCase& c) {
  const auto k = static_cast<std::int32_t>(c.integer("k", 1, c.input("x").ne[0]));
  return top_k(b.session(), b.input(c.input("x"), 2), {.k = k});
}

Tensor rope_case(Bench& b, const GoldenCase& c) {
  const GoldenTensor& x = c.input("x");
  need_dtype(x, {DType::f32, DType::f16});
  const std::string mode = c.text("mode");
  if (mode != "normal" && mode != "neox") {
    throw Skip("rope mode " + mode);
  }
  const GoldenTensor* factors = c.find_input("freq_factors");
  const Tensor positions = b.input(c.input("pos"));
  const Tensor divisors = factors == nullptr ? Tensor() : b.input(*factors);
  const auto dims = c.integer("n_dims", 1, x.ne[0]);
  reprise::RopeAttributes a{.base = c.real("freq_base"),
                            .scale = c.real("freq_scale"),
                            .dims = static_cast<std::int32_t>(dims),
                            .pairing = mode == "normal" ? reprise::RopePairing::interleaved
                                                        : reprise::RopePairing::half_split,
                            .positions = positions,
                            .frequency_factors = divisors,
                            .magnitude = c.real("attn_factor")};
  if (c.real("ext_factor") != 0) {
    const auto context = c.integer("n_ctx_orig", 1, std::numeric_limits<std::int32_t>::max());
    a = with_yarn(a, dims,
                  {.context = static_cast<std::int32_t>(context),
                   .extrapolation = c.real("ext_factor"),
                   .magnitude = c.real("attn_factor"),
                   .beta_fast = c.real("beta_fast"),
                   .beta_slow = c.real("beta_slow")});
  }
  return rope(b.session(), b.input(x, 3), a);
}

Tensor flash_attn(Bench& b, const GoldenCase& c) {
  const auto by_row = [&](const GoldenTensor& heads_first) {
    need_dtype(heads_first, {DType::f32, DType::f16, DType::q8_0});
    if (heads_first.dtype == DType::q8_0) {
      return b.rows_first(heads_first);
    }
    return permute(b.session(), b.input(heads_first, 3), {1, 0, 2});
  };
  const GoldenTensor* from = c.find_input("mask");
  const Tensor mask = from == nullptr ? Tensor() : b.input(*from, 2);
  const GoldenTensor* scores = c.find_input("sinks");
  const Tensor sinks = scores == nullptr ? Tensor() : b.input(*scores);
  const Tensor q = by_row(c.input("q"));
  const Tensor k = by_row(c.input("k"));
  const Tensor v = by_row(c.input("v"));
  return attention(b.session(), q, k, v,
                   {.scale = c.real("scale"),
                    .causal = false,
                    .mask = mask,
                    .softcap = c.real("logit_softcap"),
                    .max_bias = c.real("max_bias"),
                    .sinks = sinks});
}

/// The tokens before the first one are part of sx: a sequence that begins, whose first results have
/// no case.
Tensor ssm_conv_case(Bench& b, const GoldenCase& c) {
  const GoldenTensor& w = c.input("c");
  const Tensor x = permute(b.session(), b.input(c.input("sx"), 3), {0, 2, 1});
  const std::int64_t before = w.ne[0] - 1;
  const Tensor state = b.device().zeros({x.shape().dim(0), x.shape().back(), before}, DType::f32);
  const Tensor y = ssm_conv(b.session(), state, x, b.input(w, 2), {}, {}, {.past = 0});
  return copy(b.session(), slice(b.session(), y, 1, before, x.shape().dim(1) - before));
}

Tensor conv_1d_case(Bench& b, const GoldenCase& c) {
  const auto number = [&](const char* key) {
    return static_cast<std::int32_t>(c.integer(key, 0, 1 << 20));
  };
  need_dtype(c.input("kernel"), {DType::f32, DType::f16});
  const Tensor x = b.input(c.input("x"), 2);
  return conv_1d(
      b.session(), x, b.input(c.input("kernel"), 3),
      {.stride = number("stride"), .padding = number("pad"), .dilation = number("dilation")});
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

Tensor record_case(Bench& b, const GoldenCase& c) {
  struct Row {
    std::string_view op;
    Tensor (*build)(Bench&, const GoldenCase&);
  };
  static constexpr Row kRows[] = {
      {"mul_mat", mul_mat},
      {"mul_mat_id", mul_mat_id},
      {"rms_norm", rms_norm_case},
      {"rms_norm_mul", rms_norm_case},
      {"rope", rope_case},
      {"flash_attn", flash_attn},
      {"get_rows", get_rows_case},
      {"set_rows", set_rows_case},
      {"argmax", argmax_case},
      {"cont_permute", cont_permute},
      {"cont_view", cont_view},
      {"cast", cast_case},
      {"norm", other_norms},
      {"l2_norm", other_norms},
      {"soft_max", soft_max},
      {"diag_mask_inf", diag_mask_inf},
      {"argsort", argsort_case},
      {"top_k", top_k_case},
      {"sum_rows", of_rows<reprise::sum_rows>},
      {"mean", of_rows<reprise::mean>},
      {"sum", of_rows<reprise::sum>},
      {"cumsum", of_rows<reprise::cumsum>},
      {"ssm_conv", ssm_conv_case},
      {"conv_1d", conv_1d_case},
      {"concat", concat_case},
      {"repeat", repeat_case},
  };
  const auto* const row = std::ranges::find(kRows, c.op, &Row::op);
  if (row != std::end(kRows)) {
    return row->build(b, c);
  }
  const auto input = [&](const std::string& name, std::size_t min_rank) {
    return b.input(c.input(name), min_rank);
  };
  Tensor result = elementwise_case(b.session(), c, input);
  if (!result) {
    throw Skip("no op " + c.op);
  }
  return result;
}

Tensor build(Bench& b, const GoldenCase& c) {
  Tensor result = record_case(b, c);
  const GoldenTensor& expected = c.outputs[0];
  if (result.dtype() != expected.dtype || result.shape().elements() != expected.elements()) {
    reprise::throw_invalid_argument(
        "The result is (" + to_string(result.spec()) + "), but the case has " +
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
      reprise::throw_invalid_argument("The row (" + std::to_string(row) +
                                      ") changed, but no id names it.");
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
        reprise::throw_invalid_argument("A replay differs from the run inside finish().");
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
