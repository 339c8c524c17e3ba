// Weights above the storage range of a device, without one: which dispatches they become.
#include "framework/ops/weight_parts.h"

#include "framework/core/lowering.h"
#include "framework/core/op.h"
#include "framework/graph/hazards.h"
#include "framework/graph/make_plan.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/ops.h"
#include "reprise/ops/op_named.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

const OpDef& op_named(std::string_view name) {
  const auto all = library_ops();
  return **std::ranges::find(all, name, &OpDef::name);
}

std::int64_t draw(std::mt19937_64& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

/// A tensor of any rank from 2 on, its dimensions but the last in any order of memory; blocks lie
/// one after another.
TensorSpec random_spec(std::mt19937_64& rng) {
  const auto rank = static_cast<std::size_t>(draw(rng, 2, 4));
  std::vector<std::int64_t> dims(rank);
  std::vector<std::size_t> order(rank - 1);
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    dims[i] = draw(rng, 1, i + 2 == rank ? 90 : 4);
    order[i] = i;
  }
  dims.back() = draw(rng, 1, 40);
  if (const std::int64_t kind = draw(rng, 0, 3); kind < 2) {
    dims.back() = 32 * draw(rng, 1, 4);
    return {Shape(dims), kind == 0 ? DType::q8_0 : DType::q4_0};
  }
  std::shuffle(order.begin(), order.end(), rng);
  Strides strides{};
  strides[rank - 1] = 1;
  std::int64_t step = dims.back() + draw(rng, 0, 3);
  for (const std::size_t d : order) {
    strides[d] = step;
    step *= dims[d];
  }
  return {Shape(dims), draw(rng, 0, 1) == 0 ? DType::f32 : DType::f16, strides};
}

TEST(WeightParts, CoverEveryRowOnceAndFit) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::size_t cuts = 0;
  for (int i = 0; i < 300; ++i) {
    const TensorSpec spec = random_spec(rng);
    DeviceTraits traits;
    traits.binding_alignment = 4U << draw(rng, 0, 6);
    // A row with whatever comes before it in its binding always fits.
    traits.max_binding_bytes = 256 +
                               bytes_of(spec.dtype, static_cast<std::uint64_t>(spec.shape.back())) +
                               static_cast<std::uint64_t>(draw(rng, 0, 4000));
    const BoundTensor tensor{&spec, 0, 4 * static_cast<std::uint64_t>(draw(rng, 0, 100))};
    const auto dims = spec.shape.padded();
    std::vector<int> covered(static_cast<std::size_t>(dims[0] * dims[1] * dims[2]), 0);
    const auto boxes = ops::boxes_that_fit(tensor, traits, draw(rng, 1, 16));
    cuts += boxes.size() > 1 ? 1U : 0U;
    for (const ops::Box& box : boxes) {
      EXPECT_TRUE(ops::fits_one_binding(ops::BoxedTensor(tensor, box).bound, traits));
      EXPECT_EQ(box.extent[3], dims[3]);
      for (std::int64_t a = 0; a < box.extent[0]; ++a) {
        for (std::int64_t b = 0; b < box.extent[1]; ++b) {
          for (std::int64_t c = 0; c < box.extent[2]; ++c) {
            const std::int64_t row =
                ((box.first[0] + a) * dims[1] + box.first[1] + b) * dims[2] + box.first[2] + c;
            ++covered[static_cast<std::size_t>(row)];
          }
        }
      }
    }
    EXPECT_TRUE(std::ranges::all_of(covered, [](int n) { return n == 1; }))
        << to_string(spec) << ", at most " << traits.max_binding_bytes << " bytes";
  }
  EXPECT_GT(cuts, 100U) << "too few of the tensors were too large";
}

TEST(WeightParts, OfWhatFitsAreOneBox) {
  const TensorSpec spec({3, 50, 20}, DType::f32);
  DeviceTraits traits;
  traits.max_binding_bytes = spec.bytes();
  EXPECT_EQ(ops::boxes_that_fit({&spec, 0, 512}, traits, 8).size(), 1U);
  EXPECT_EQ(ops::boxes_that_fit({&spec, 0, 516}, traits, 8).size(), 2U);
}

/// matmul or get_rows over storages 0, 1, ... in the order of the specs: operands and the result,
/// without a residual.
StepList lower_op(std::string_view op, const DeviceTraits& traits,
                  std::span<const TensorSpec> specs) {
  std::vector<BoundTensor> tensors;
  for (const TensorSpec& spec : specs) {
    tensors.push_back({&spec, static_cast<std::uint32_t>(tensors.size()), 0});
  }
  if (op == "matmul") {
    tensors.insert(tensors.end() - 1, BoundTensor{});
  }
  const TensorSpec state_spec({1}, DType::i32);
  const BoundTensor state{&state_spec, static_cast<std::uint32_t>(specs.size()), 0};
  const std::array<std::byte, 64> attributes{};
  StepList steps;
  lower({op_named(op), 0, tensors, state, attributes}, traits, steps);
  return steps;
}

std::size_t barriers_of(const StepList& steps) {
  HazardTracker tracker;
  std::vector<Touch> touches;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    touches_of(steps, steps[s], touches);
    tracker.step(s, touches);
  }
  return tracker.barriers().size();
}

DeviceTraits software_driver() {
  DeviceTraits traits;
  traits.workgroup_size = 8;
  traits.binding_alignment = 64;
  traits.max_binding_bytes = 128 * kMebi;
  return traits;
}

TEST(WeightParts, OfAMatrixVectorProductNeedNoBarriers) {
  const TensorSpec specs[] = {
      {{1, 4096}, DType::f32}, {{128256, 4096}, DType::f16}, {{1, 128256}, DType::f32}};
  const StepList steps = lower_op("matmul", software_driver(), specs);
  ASSERT_EQ(steps.size(), 8U);  // 1002 MiB
  std::uint64_t next = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Binding& w = steps.bindings(steps[s])[1];
    EXPECT_EQ(w.offset, next);
    EXPECT_LE(w.bytes, 128 * kMebi);
    next = w.offset + w.bytes;
  }
  EXPECT_EQ(next, specs[1].bytes());
  EXPECT_EQ(barriers_of(steps), 0U);
}

TEST(WeightParts, OfBlocksBeginAtRows) {
  const TensorSpec specs[] = {
      {{1, 4096}, DType::f32}, {{128256, 4096}, DType::q8_0}, {{1, 128256}, DType::f32}};
  const DeviceTraits traits = software_driver();
  const StepList steps = lower_op("matmul", traits, specs);
  ASSERT_EQ(steps.size(), 5U);  // 532 MiB
  constexpr std::uint64_t kRow = 4096 / 32 * 34;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Binding& w = steps.bindings(steps[s])[1];
    const Binding& y = steps.bindings(steps[s])[3];
    const std::uint64_t first = y.offset / 4 * kRow;  // y binds as many columns as w has rows
    EXPECT_EQ(w.offset, first / traits.binding_alignment * traits.binding_alignment);
    EXPECT_EQ(w.offset + w.bytes, first + y.bytes / 4 * kRow);
    EXPECT_LE(w.bytes, 128 * kMebi);
  }
  EXPECT_EQ(barriers_of(steps), 0U);
}

TEST(WeightParts, ThatInterleaveInTheResultAreOrderedByBarriers) {
  const TensorSpec specs[] = {
      {{2, 4096}, DType::f32}, {{40000, 4096}, DType::f16}, {{2, 40000}, DType::f32}};
  const StepList steps = lower_op("matmul", software_driver(), specs);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(barriers_of(steps), 2U);
}

TEST(WeightParts, MayHoldMoreThan32BitsOfElementsInAll) {
  DeviceTraits traits = software_driver();
  traits.max_binding_bytes = ~std::uint64_t{0};
  constexpr std::int64_t kRows = std::int64_t{5} << 20U;  // times 4096: 5 * 2^32 elements
  const TensorSpec product[] = {
      {{1, 4096}, DType::f32}, {{kRows, 4096}, DType::f16}, {{1, kRows}, DType::f32}};
  EXPECT_EQ(lower_op("matmul", traits, product).size(), 6U);  // an index short of 2^32 each
  const TensorSpec gather[] = {
      {{kRows, 4096}, DType::bf16}, {{3}, DType::i32}, {{3, 4096}, DType::f32}};
  EXPECT_EQ(lower_op("get_rows", traits, gather).size(), 6U);
}

TEST(WeightParts, AreNotSmallerThanARow) {
  DeviceTraits traits = software_driver();
  traits.max_binding_bytes = 1024;
  const TensorSpec product[] = {
      {{1, 200}, DType::f32}, {{9, 300}, DType::f32}, {{1, 9}, DType::f32}};
  expect_error(ErrorCode::unsupported, {"matmul binds (1200) bytes as w", "at most 1024"},
               [&] { (void)lower_op("matmul", traits, product); });
}

}  // namespace
}  // namespace reprise::testing
