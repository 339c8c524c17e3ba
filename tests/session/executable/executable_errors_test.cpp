// Bad input of executable graphs: a code and a message of its own for each, and nothing has
// changed.
#include "tests/session/executable/executable_test.h"

namespace reprise::testing {
namespace {

class ExecutableErrors : public ExecutableTest {};
INSTANTIATE_TEST_SUITE_P(On, ExecutableErrors, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutableErrors, UnknownNamesAreListedWithThoseThereAre) {
  ExecutableGraph graph = rows_graph();
  const auto unknown = [&](const std::vector<std::string>& parts, const auto& f) {
    expect_error(ErrorCode::unknown_name, parts, f);
  };
  unknown({"(v)", "x, c"}, [&] { (void)graph.run({{"v", w}, {"x", w}, {"c", c}}); });
  unknown({"(v)", "x, c"}, [&] { (void)graph.input_slot("v"); });
  unknown({"(v)", "w"}, [&] { graph.set_param("v", w); });
  unknown({"(h)", "none"}, [&] { graph.bind("h", w); });
  unknown({"(h)", "none"}, [&] { (void)graph.read("h"); });
  const Ticket result = graph.run({{"x", w}, {"c", c}});
  unknown({"(v)", "y, z"}, [&] { (void)result.output("v"); });
  unknown({"(v)", "y, z"}, [&] { (void)result.read("v"); });
  graph.create_handle({.name = "h", .shape = {3, 4}});
  unknown({"(v)", "y, z"}, [&] { graph.feed("h", "v"); });
  EXPECT_EQ(graph.run({{"x", w}, {"c", c}}).read("y"), times_w(w));
}

TEST_P(ExecutableErrors, AnEmptyStoreOfParamsIsRefused) {
  const ParamStore store;
  const auto refused = [](const auto& call) {
    expect_error(ErrorCode::invalid_argument, {"empty", "with a device"}, call);
  };
  refused([&] { (void)store.declare("w", {4}); });
  refused([&] { store.adopt("w", device_.zeros({4}, DType::f32)); });
  refused([&] { store.set("w", w); });
  refused([&] { (void)store.find("w"); });
  refused([&] { (void)store.params(); });
  refused([&] { (void)store.bytes(); });
  refused([&] { (void)store.unset(); });
}

TEST_P(ExecutableErrors, AnotherDtypeIsRefused) {
  ExecutableGraph graph = summed_graph();
  const Ints ints(4, 1);
  expect_error(ErrorCode::dtype_mismatch, {"'x'", "f32 [4]", "(i32)"}, [&] {
    (void)graph.run({{"x", ints}});
  });
  expect_error(ErrorCode::dtype_mismatch, {"'h'", "f32 [4]", "(i32)"},
               [&] { graph.bind("h", std::as_bytes(std::span(ints)), DType::i32); });
  ExecutableGraph other = scaled_graph();
  expect_error(ErrorCode::dtype_mismatch, {"'w'", "(i32)"},
               [&] { other.set_param("w", std::as_bytes(std::span(ints)), DType::i32); });
}

TEST_P(ExecutableErrors, AnotherNumberOfBytesIsRefused) {
  ExecutableGraph graph = rows_graph();
  expect_error(ErrorCode::size_mismatch, {"'c'", "(48 bytes)", "(16)"}, [&] {
    (void)graph.run({{"x", w}, {"c", w}});
  });
  expect_error(ErrorCode::size_mismatch, {"'x'", "(16 bytes a row)", "(12)"}, [&] {
    (void)graph.run({{"x", Floats(3)}, {"c", c}});
  });
  graph.set_active_extent(2);
  expect_error(ErrorCode::size_mismatch, {"'x'", "(1) rows", "active extent is 2"}, [&] {
    (void)graph.run({{"x", w}, {"c", c}});
  });
  PreparedRun run = graph.prepare();
  expect_error(ErrorCode::size_mismatch, {"'x'", "32 bytes", "(16)"},
               [&] { run.write(graph.input_slot("x"), bytes_of(w)); });
}

TEST_P(ExecutableErrors, InputsOfOneExtentAgreeOnIt) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          const Extent rows = s.extent("rows");
                          const Tensor a = s.input("a", {rows, 4}), b = s.input("b", {rows, 4});
                          s.output("y", add(s, a, b));
                        },
                        {.extent = "rows", .buckets = {8}});
  expect_error(ErrorCode::size_mismatch, {"'b'", "(2) rows", "'a' 1"}, [&] {
    (void)graph.run({{"a", Floats(4)}, {"b", Floats(8)}});
  });
}

TEST_P(ExecutableErrors, AnExtentAboveTheLargestBucketOrBelowZeroIsRefused) {
  ExecutableGraph graph = rows_graph();
  const auto refused = [&](const std::string& rows, const auto& f) {
    expect_error(ErrorCode::extent_out_of_range, {"'rows'", "0 to 8", "(" + rows + ")"}, f);
  };
  refused("9", [&] { graph.set_active_extent(9); });
  refused("-1", [&] { graph.set_active_extent(-1); });
  expect_error(ErrorCode::extent_out_of_range, {"'x'", "0 to 8 rows", "(9)"}, [&] {
    (void)graph.run({{"x", Floats(36)}, {"c", c}});
  });
  EXPECT_EQ(graph.active_extent(), std::nullopt);
  expect_error(ErrorCode::invalid_argument, {"no extent"},
               [&] { scaled_graph().set_active_extent(1); });
}

TEST_P(ExecutableErrors, AHandleOfAnotherShapeOrTwiceIsRefused) {
  ExecutableGraph graph(executor_, summed);
  expect_error(ErrorCode::shape_mismatch, {"'h'", "f32 [5]", "(f32 [4])"},
               [&] { graph.create_handle({.name = "h", .shape = {5}}); });
  expect_error(ErrorCode::dtype_mismatch, {"'h'", "f16 [4]", "(f32 [4])"},
               [&] { graph.create_handle({.name = "h", .shape = {4}, .dtype = DType::f16}); });
  graph.create_handle({.name = "h", .shape = {4}});
  expect_error(ErrorCode::invalid_argument, {"'h' already"},
               [&] { graph.create_handle({.name = "h", .shape = {4}}); });
  expect_error(ErrorCode::size_mismatch, {"'h'", "(16 bytes)", "(8)"},
               [&] { graph.bind("h", Floats(2)); });
  expect_error(ErrorCode::shape_mismatch, {"f32 [2, 4]", "(f32 [4])"}, [&] {
    graph.bind("h", device_.zeros({2, 4}, DType::f32, "t"));
  });
}

TEST_P(ExecutableErrors, AFeedOfAnotherShapeTwiceOrInOtherMemoryIsRefused) {
  ExecutableGraph graph = rows_graph();
  graph.create_handle({.name = "h", .shape = {4}});
  expect_error(ErrorCode::shape_mismatch, {"'z'", "f32 [3, 4]", "(f32 [4])"},
               [&] { graph.feed("h", "z"); });
  ExecutableGraph sums = summed_graph();
  sums.feed("h", "sum");
  expect_error(ErrorCode::invalid_argument, {"'sum'", "already"},
               [&] { sums.feed("h", "sum", {.mode = FeedMode::swap}); });
  ExecutableGraph in_place = summed_graph();
  in_place.feed("h", "sum", {.mode = FeedMode::in_place});
  expect_error(ErrorCode::invalid_argument, {"'sum'", "(h)", "in place"}, [&] {
    (void)in_place.run({{"x", ones}});
  });
  ExecutableGraph stops(executor_, summed,
                        {.state = StateLayout().carried("done").stop_when("done")});
  stops.create_handle({.name = "h", .shape = {4}});
  expect_error(ErrorCode::unsupported, {"'h'", "swap"},
               [&] { stops.feed("h", "sum", {.mode = FeedMode::swap}); });
}

TEST_P(ExecutableErrors, AReleasedTicketAnswersNothing) {
  ExecutableGraph graph = scaled_graph();
  Ticket ticket = graph.submit({{"x", ones}});
  ticket.release();
  expect_error(ErrorCode::released, {"released"}, [&] { (void)ticket.read("y"); });
  expect_error(ErrorCode::released, {"released"}, [&] { (void)ticket.output_names(); });
}

TEST_P(ExecutableErrors, AnInputGivenTwiceIsRefused) {
  ExecutableGraph graph = scaled_graph();
  expect_error(ErrorCode::invalid_argument, {"'x'", "2 values"}, [&] {
    (void)graph.run({{"x", ones}, {"x", w}});
  });
}

TEST_P(ExecutableErrors, WhileARunIsPreparedNothingElseRuns) {
  ExecutableGraph graph = scaled_graph();
  {
    PreparedRun run = graph.prepare();
    expect_error(ErrorCode::busy, {"prepared run"}, [&] { (void)graph.run({{"x", ones}}); });
    expect_error(ErrorCode::busy, {"prepared run"}, [&] { (void)graph.prepare(); });
  }
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), w);
  PreparedRun run = graph.prepare();
  run.write(graph.input_slot("x"), bytes_of(ones));
  EXPECT_EQ(run.run().read("y"), w);
  expect_error(ErrorCode::invalid_argument, {"submitted already"},
               [&] { run.write(graph.input_slot("x"), bytes_of(ones)); });
}

TEST_P(ExecutableErrors, APassThatFailsIsAnErrorWhereTheGraphIsMade) {
  expect_error(ErrorCode::invalid_argument, {"matmul", "executable"}, [&] {
    ExecutableGraph graph(executor_, [](GraphSession& s) {
      s.output("y", matmul(s, s.input("x", {1, 4}), s.param("w", {4, 5})));
    });
  });
  expect_error(ErrorCode::invalid_argument, {"(2)", "ascending"}, [&] {
    ExecutableGraph graph(executor_, rows, {.extent = "rows", .buckets = {4, 2}});
  });
  expect_error(ErrorCode::invalid_argument, {"'x'", "inside of a pass"}, [&] {
    ExecutableGraph graph(executor_,
                          [](GraphSession& s) { s.output("y", s.input("x", {4}, ones)); });
  });
  expect_error(ErrorCode::shape_mismatch, {"'w'", "f32 [4]", "(f32 [5])"}, [&] {
    ExecutableGraph graph(executor_, [](GraphSession& s) {
      (void)s.param("w", {4});
      (void)s.param("w", {5});
    });
  });
}

TEST_P(ExecutableErrors, APassThatUsesItsOwnExecutableIsTold) {
  ExecutableGraph* self = nullptr;
  const auto asks = [&](GraphSession& s) {
    if (self != nullptr) {
      (void)self->recordings();
    }
    const Tensor x = s.input("x", {s.extent("rows"), 4});
    s.output("y", add(s, x, x));
  };
  ExecutableGraph graph(executor_, asks, {.name = "self", .extent = "rows", .buckets = {2, 4}});
  self = &graph;
  expect_error(ErrorCode::invalid_argument, {"'self'", "uses its own executable"}, [&] {
    (void)graph.run({{"x", Floats(4)}});
  });
}

TEST_P(ExecutableErrors, APassThatHasOtherInputsInASmallBucketIsRefused) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) {
                          Tensor x = s.input("x", {s.extent("rows"), 4});
                          if (x.shape().dim(0) > 2) {
                            x = add(s, x, s.input("bias", {4}));
                          }
                          s.output("y", neg(s, x));
                        },
                        {.name = "uneven", .extent = "rows", .buckets = {2, 8}});
  expect_error(ErrorCode::invalid_argument, {"'uneven'", "inputs", "bias f32 [4]", "bucket 2"},
               [&] {
                 (void)graph.run({{"x", w}, {"bias", w}});
               });
  EXPECT_EQ(graph.run({{"x", Floats(12, 1)}, {"bias", ones}}).read("y"), Floats(12, -2));
}

TEST_P(ExecutableErrors, AnInputThatHasTheExtentInASmallBucketAloneIsRefused) {
  ExecutableGraph graph(
      executor_,
      [](GraphSession& s) {
        const Extent rows = s.extent("rows");
        s.output("y", neg(s, s.input("x", {rows, 4})));
        s.output("z", neg(s, s.input("fixed", {rows.max == 8 ? Extent(8) : rows, 4})));
      },
      {.name = "uneven", .extent = "rows", .buckets = {2, 8}});
  expect_error(ErrorCode::invalid_argument,
               {"'uneven'", "fixed f32 [8, 4]", "fixed f32 [up to 8, 4]", "bucket 2"}, [&] {
                 (void)graph.run({{"x", Floats(8, 1)}, {"fixed", Floats(32, 1)}});
               });
}

TEST_P(ExecutableErrors, APassThatHasOtherInputsWhenItIsRecordedAgainIsRefused) {
  bool biased = false;
  ExecutableGraph graph(executor_,
                        [&](GraphSession& s) {
                          const Tensor x = s.input("x", {4});
                          s.output("y", biased ? add(s, x, s.input("bias", {4})) : neg(s, x));
                        },
                        {.name = "moody"});
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), Floats(4, -1));
  biased = true;
  graph.create_handle({.name = "h", .shape = {4}});
  graph.feed("h", "y");
  expect_error(ErrorCode::invalid_argument, {"'moody'", "(x f32 [4])", "bias f32 [4]", "again"},
               [&] {
                 (void)graph.run({{"x", ones}});
               });
}

TEST_P(ExecutableErrors, AHandleIsFedOnlyWhereItsMemoryTakesResults) {
  const Tensor all = device_.from_host({5}, Floats{100, 0, 0, 0, 0}, "all");
  const auto fed_into = [&](const Tensor& memory) {
    ExecutableGraph graph(executor_, [](GraphSession& s) {
      const Tensor x = s.input("x", {4});
      s.output("y", add(s, x, x));
    });
    graph.create_handle({.name = "h", .shape = {4}});
    graph.bind("h", memory);
    graph.feed("h", "y");
    (void)graph.run({{"x", ones}});
    return graph.read<float>("h");
  };
  const Tensor part = Tensor::over(TensorRef(all)->buffer, {{4}, DType::f32}, 4, "part");
  if (device_.backend().traits().binding_alignment > 4) {
    expect_error(ErrorCode::unsupported, {"'y'", "(part)", "(4) bytes into"},
                 [&] { (void)fed_into(part); });
  } else {
    EXPECT_EQ(fed_into(part), Floats(4, 2));
  }
  EXPECT_EQ(device_.to_host<float>(all)[0], 100);
}

TEST_P(ExecutableErrors, AnOutputThatNothingCopiesFeedsNoHandle) {
  ExecutableGraph graph(executor_,
                        [](GraphSession& s) { s.output("y", s.input("x", {4}, DType::i64)); });
  graph.create_handle({.name = "h", .shape = {4}, .dtype = DType::i64});
  expect_error(ErrorCode::unsupported, {"'y'", "i64 [4]", "'h'", "by copy"},
               [&] { graph.feed("h", "y"); });
  graph.feed("h", "y", {.mode = FeedMode::swap});  // an input is no result that could go there
  expect_error(ErrorCode::unsupported, {"'y'", "i64 [4]", "copy() takes no i64"}, [&] {
    (void)graph.run({{"x", DType::i64, std::vector<std::byte>(32)}});
  });
}

}  // namespace
}  // namespace reprise::testing
