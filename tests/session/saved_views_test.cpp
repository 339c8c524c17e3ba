// Which views a file of a graph may have: what it says of them is not trusted.
#include "framework/session/saved/saved_view.h"
#include "reprise/reprise.h"
#include "tests/expect_error.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

/// Makes a view of two of four equal rows, which lie in one place.
void slice_of_equal_rows(std::uint64_t offset) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  const GraphSession session = executor.begin();
  const Tensor row = device.empty({8}, DType::f32, "row");
  const Tensor rows =
      Tensor::over(TensorRef(row)->buffer, {{4, 8}, DType::f32, {0, 1}}, TensorRef(row)->offset);
  const TensorRef inputs[] = {rows};
  const SavedViewAttributes view{{{2, 8}, DType::f32, {0, 1}}, offset};
  saved_view_def.infer({session, saved_view_def, inputs, std::as_bytes(std::span(&view, 1)),
                        SourceLocation::here()});
}

TEST(SavedViews, OfEqualRowsBeginWhereTheseDo) { EXPECT_NO_THROW(slice_of_equal_rows(0)); }

TEST(SavedViews, OfEqualRowsBeginNowhereElse) {
  expect_error(ErrorCode::invalid_argument, {"at (8) bytes", "no reshape, permute or slice"},
               [] { slice_of_equal_rows(8); });
}

}  // namespace
}  // namespace reprise::testing
