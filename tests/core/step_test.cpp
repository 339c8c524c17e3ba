// Lowering without a device: what a step binds, and which limits are respected.
#include "reprise/backend/step.h"

#include "framework/core/lowering.h"
#include "framework/core/op.h"
#include "reprise/ops.h"
#include "reprise/ops/op_named.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

const OpDef& op_named(std::string_view name) {
  for (const OpDef* op : library_ops()) {
    if (op->name == name) {
      return *op;
    }
  }
  throw Error(ErrorCode::invalid_argument, "no such op");
}

/// add(x, y) over three storages, x starting at `offset` bytes.
StepList lower_add(const DeviceTraits& traits, const TensorSpec& spec, std::uint64_t offset) {
  const BoundTensor tensors[] = {{&spec, 0, offset}, {&spec, 1, 0}, {&spec, 2, 0}};
  const std::byte none{};
  StepList steps;
  lower({op_named("add"), 0, tensors, {}, {&none, 1}}, traits, steps);
  return steps;
}

TEST(Lowering, AlignsBindingsDownAndKeepsTheirEnd) {
  DeviceTraits traits;
  traits.binding_alignment = 64;
  const TensorSpec spec({10}, DType::f32);
  const StepList steps = lower_add(traits, spec, 100);
  ASSERT_EQ(steps.size(), 1U);
  const Binding& x = steps.bindings(steps[0])[0];
  EXPECT_EQ(x.offset, 64U);
  EXPECT_EQ(x.offset + x.bytes, 140U);
}

TEST(Lowering, RefusesABindingAboveTheStorageRange) {
  DeviceTraits traits;
  traits.max_binding_bytes = 39;
  const TensorSpec spec({10}, DType::f32);
  expect_error(ErrorCode::unsupported, {"add binds (40) bytes", "at most 39"},
               [&] { (void)lower_add(traits, spec, 0); });
  traits.max_binding_bytes = 40;
  EXPECT_EQ(lower_add(traits, spec, 0).size(), 1U);
}

TEST(Lowering, MakesNoStepForEmptyResults) {
  EXPECT_EQ(lower_add(DeviceTraits(), TensorSpec({0, 4}, DType::f32), 0).size(), 0U);
}

TEST(Lowering, FoldsLargeGridsIntoTwoDimensions) {
  EXPECT_EQ(groups_for(1, 64).grid, (Grid{1, 1, 1}));
  EXPECT_EQ(groups_for(std::uint64_t{65535} * 64, 64).grid, (Grid{65535, 1, 1}));
  EXPECT_EQ(groups_for(std::uint64_t{65535} * 64 + 1, 64).grid, (Grid{65535, 2, 1}));
  expect_error(ErrorCode::unsupported, {"65535 x 65535"},
               [] { (void)groups_for(std::uint64_t{1} << 40U, 1); });
}

}  // namespace
}  // namespace reprise::testing
