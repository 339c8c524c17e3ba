// What becomes of a device.
#include "reprise/backend/device_life.h"

#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(DeviceLife, AReadyDeviceRefusesNothing) {
  const DeviceLife life("Acme");
  EXPECT_EQ(life.state(), DeviceState::ready);
  EXPECT_NO_THROW(life.require_ready());
  EXPECT_NO_THROW(life.require_alive());
  EXPECT_FALSE(life.last_error());
}

TEST(DeviceLife, AShutDownDeviceTakesNoNewWorkButAnswers) {
  DeviceLife life("Acme");
  life.shut_down();
  EXPECT_EQ(life.state(), DeviceState::shut_down);
  expect_error(ErrorCode::shut_down, {"(Acme)", "was shut down"}, [&] { life.require_ready(); });
  EXPECT_NO_THROW(life.require_alive());
}

TEST(DeviceLife, ALostDeviceNamesItsFirstFailure) {
  DeviceLife life("Acme");
  life.lose("vkQueueSubmit2 failed.");
  life.lose("another one.");
  life.shut_down();
  EXPECT_EQ(life.state(), DeviceState::lost);
  for (const bool new_work : {true, false}) {
    expect_error(ErrorCode::device_lost, {"(Acme)", "first failure was: vkQueueSubmit2 failed."},
                 [&] { new_work ? life.require_ready() : life.require_alive(); });
  }
}

TEST(DeviceLife, TheLastErrorIsKeptWithItsPlace) {
  DeviceLife life("Acme");
  life.note(Error(ErrorCode::timeout, "first."));
  life.note(Error(Error(ErrorCode::unsupported, "second."), "(while)",
                  {.op = 7, .scope = "layer.3/attn"}));
  const auto error = life.last_error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::unsupported);
  EXPECT_EQ(error->message, "second. (while)");
  EXPECT_EQ(error->op, 7U);
  EXPECT_EQ(error->scope, "layer.3/attn");
  EXPECT_EQ(life.state(), DeviceState::ready);
}

}  // namespace
}  // namespace reprise::testing
