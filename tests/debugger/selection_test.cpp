#include "debugger/model/selection.h"

#include <gtest/gtest.h>

namespace reprise::debugger {
namespace {

TEST(SelectionHistory, GoesBackAndForwardAndForgetsWhatWasAhead) {
  SelectionHistory history;
  history.go({.node = 1, .item = {}});
  history.go({.node = 2, .item = {}});
  history.back();
  EXPECT_EQ(history.current().node, 1U);
  history.go({.node = 3, .item = {}});
  EXPECT_FALSE(history.can_go_forward());
  history.back();
  EXPECT_EQ(history.current().node, 1U);
}

}  // namespace
}  // namespace reprise::debugger
