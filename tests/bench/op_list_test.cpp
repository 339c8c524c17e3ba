#include "bench/op_list.h"

#include "bench/op_call.h"
#include "framework/core/op.h"
#include "framework/session/device/unbacked_buffer.h"
#include "reprise/ops/op_named.h"
#include "tests/testing.h"

namespace reprise::bench {
namespace {

TEST(OpList, HasACallOfEveryOpThatAPassCalls) {
  for (const OpDef* op : library_ops()) {
    const bool listed =
        std::ranges::any_of(op_list(), [&](const char* text) { return &OpText(text).op() == op; });
    EXPECT_NE(listed, !why_not_listed(op->name).empty()) << op->name;
  }
}

TEST(OpList, HasCallsThatCanBeRecorded) {
  GraphExecutor executor(testing::test_device("cpu"));
  const auto without_memory = [](std::size_t /*operand*/, const TensorSpec& spec) {
    return unbacked("x", spec);
  };
  for (const char* const text : op_list()) {
    const OpText call(text);
    GraphSession session = executor.begin_recorded();
    EXPECT_NO_THROW(call.record(session, call.operands(without_memory))) << text;
  }
}

}  // namespace
}  // namespace reprise::bench
