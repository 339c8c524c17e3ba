#include "tests/graph/fusion_passes.h"

#include "reprise/graph/execution_plan.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kHeads = 2, kHead = 16, kCols = kHeads * kHead, kTableRows = 24;

/// Tensors that outlive a pass; new ones for every run, because passes write them.
struct Persistent {
  Persistent(const Device& device, std::uint64_t seed)
      : rng(seed),
        weights{make(device, {kCols, kCols}, DType::f32, "f32"),
                make(device, {kCols, kCols}, DType::f16, "f16"),
                make(device, {kCols, kCols}, DType::q8_0, "q8_0")},
        norm(make(device, {kCols}, DType::f32, "norm")),
        bias(make(device, {1, kCols}, DType::f32, "bias")),
        row(make(device, {1, kCols}, DType::f32, "row")),
        table(make(device, {kTableRows, kCols}, DType::f32, "table")),
        caches{make(device, {kTableRows, kHeads, kHead}, DType::f32, "cache_f32"),
               make(device, {kTableRows, kHeads, kHead}, DType::f16, "cache_f16")},
        heads(make(device, {kTableRows, kHead}, DType::f32, "heads")),
        state(device, StateLayout().host("pos", 5)) {}
  Rng rng;
  std::array<Tensor, 3> weights;
  Tensor norm, bias, row, table;
  std::array<Tensor, 2> caches;
  Tensor heads;
  StateBlock state;

 private:
  Tensor make(const Device& device, const Shape& shape, DType dtype, const std::string& name) {
    return device.from_host(shape, dtype, random_bytes(rng, dtype, shape.elements(), -0.5, 0.5),
                            name);
  }
};

class FusionPass {
 public:
  FusionPass(GraphSession& session, const Persistent& persistent, std::uint64_t seed)
      : s_(session), p_(persistent), rng_(seed), rows_(one_in(rng_, 3) ? 1 : count(2, 20)) {}

  std::vector<std::string> record(std::size_t pairs) {
    for (int i = 0; i < 3; ++i) {
      const Shape shape{rows_, kCols};
      keep(s_.input("x" + std::to_string(i), shape, DType::f32,
                    random_bytes(rng_, DType::f32, shape.elements(), -1, 1)));
    }
    for (std::size_t i = 0; i < pairs; ++i) {
      add_pair();
    }
    add_output(any());
    return outputs_;
  }

 private:
  std::int64_t count(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(pick(rng_, static_cast<std::uint64_t>(high - low + 1)));
  }
  const Tensor& any() { return recent_[pick(rng_, recent_.size())]; }
  const Tensor& weight() { return p_.weights[pick(rng_, p_.weights.size())]; }
  void keep(const Tensor& tensor) {
    if (recent_.size() < 5) {
      recent_.push_back(tensor);
    } else {
      recent_[pick(rng_, recent_.size())] = tensor;
    }
  }
  void add_output(const Tensor& tensor) {
    outputs_.push_back("y" + std::to_string(outputs_.size()));
    s_.output(outputs_.back(), tensor);
  }

  void add_pair() {
    switch (pick(rng_, 9)) {
      case 0:
      case 1:
        return add_residual();
      case 6:
        return add_bias();
      case 7:
      case 8:
        return add_siblings();
      case 2:
        return add_norm();
      case 3:
        return one_in(rng_, 4) && rows_ == 1 ? add_rotated_part() : add_rotated();
      case 4:
        return keep(mul(s_, rms_norm(s_, any(), {}), p_.norm));
      default:
        return read_table();
    }
  }

  void add_residual() {
    const Tensor residual = any();
    const Tensor product = matmul(s_, any(), weight());
    disturb(product);
    keep(one_in(rng_, 2) ? add(s_, residual, product) : add(s_, product, residual));
  }

  void add_bias() {
    const Tensor& row = one_in(rng_, 2) ? p_.norm : p_.bias;
    const Tensor product = matmul(s_, any(), weight());
    disturb(product);
    keep(rows_ == 1 && one_in(rng_, 2) ? reshape(s_, add(s_, row, product), {1, kCols})
                                       : add(s_, product, row));
  }

  /// Products of one tensor, of which a few may have weights of another kind, or a residual.
  void add_siblings() {
    const Tensor x = any();
    const Tensor& w = weight();
    std::vector<Tensor> products;
    for (std::int64_t i = count(2, 4); i > 0; --i) {
      products.push_back(one_in(rng_, 8)   ? matmul(s_, x, weight())
                         : one_in(rng_, 8) ? matmul(s_, x, w, any())
                                           : matmul(s_, x, w));
      disturb(products.back());
      if (one_in(rng_, 6)) {
        set_rows(s_, x, p_.row, {.position = static_cast<std::int32_t>(count(0, rows_ - 1))});
      }
    }
    for (const Tensor& product : products) {
      keep(product);
    }
  }

  void add_norm() {
    const Tensor sum = one_in(rng_, 6) ? add(s_, any(), p_.norm) : add(s_, any(), any());
    disturb(sum);
    keep(one_in(rng_, 2) ? rms_norm(s_, sum, p_.norm) : rms_norm(s_, sum, {}));
    if (one_in(rng_, 2)) {
      keep(sum);
    }
  }

  void add_rotated() {
    const StateField pos = s_.state("pos");
    const Tensor rotated =
        rope(s_, reshape(s_, any(), {rows_, kHeads, kHead}),
             {.position = pos,
              .pairing = one_in(rng_, 2) ? RopePairing::half_split : RopePairing::interleaved});
    disturb(reshape(s_, rotated, {rows_, kCols}));
    const Tensor& cache = p_.caches[pick(rng_, 2)];
    const auto window = one_in(rng_, 3) ? static_cast<std::int32_t>(kTableRows - 1) : 0;
    set_rows(s_, cache, one_in(rng_, 2) ? rotated : reshape(s_, rotated, {rows_, kCols}),
             {.position = pos, .window = window});
  }

  /// One head of a single row: its bytes lie together, but not at the begin.
  void add_rotated_part() {
    const Tensor rotated = rope(s_, reshape(s_, any(), {1, kHeads, kHead}), {.position = 3});
    set_rows(s_, p_.heads, slice(s_, rotated, 1, 1, 1), {.position = s_.state("pos")});
  }

  void read_table() {
    keep(copy(s_, slice(s_, p_.table, 0, count(0, kTableRows - rows_), rows_)));
    if (one_in(rng_, 2)) {
      keep(slice(s_, p_.table, 0, count(0, kTableRows - rows_), rows_));
    }
  }

  /// Sometimes something else happens before `result` is used as a rule wants it.
  void disturb(const Tensor& result) {
    switch (pick(rng_, 10)) {
      case 0:
        return add_output(result);
      case 1:
        return keep(mul(s_, result, p_.norm));
      case 2:
        return keep(result);
      case 3:
      case 4:
        return set_rows(s_, any(), p_.row, {.position = static_cast<std::int32_t>(rows_ - 1)});
      case 5:
        return set_rows(s_, p_.table, p_.row,
                        {.position = static_cast<std::int32_t>(count(0, kTableRows - 1))});
      case 6:
        return keep(silu_mul(s_, any(), any()));
      default:
        return;
    }
  }

  GraphSession& s_;
  const Persistent& p_;
  Rng rng_;
  std::int64_t rows_;
  std::vector<Tensor> recent_;
  std::vector<std::string> outputs_;
};

}  // namespace

Left run_fusions(const Device& device, const FusionSeeds& seeds, const PassOptions& passes,
                 std::map<std::string_view, std::size_t>& applied) {
  const Persistent persistent(device, seeds.tensors);
  GraphExecutor executor(device);
  GraphSession session = executor.begin_recorded({.state = persistent.state});
  const auto names = FusionPass(session, persistent, seeds.pass).record(seeds.pairs);
  const FinishResult result = session.finish({.passes = passes});
  for (const PassDecision& d : result.graph.plan().decisions) {
    applied[d.kind] += d.pass == "fuse" && d.applied ? 1U : 0U;
  }
  Left left;
  for (const Tensor& tensor :
       {persistent.table, persistent.caches[0], persistent.caches[1], persistent.heads}) {
    left[tensor.name()] = device.to_host(tensor);
  }
  for (const std::string& name : names) {
    left[name] = result.read<std::byte>(name);
  }
  return left;
}

}  // namespace reprise::testing
