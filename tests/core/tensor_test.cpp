// Shapes, specs, and tensor handles: what they refuse, and when they let go of memory.
#include "reprise/core/tensor.h"

#include <limits>
#include <thread>

#include "framework/core/tensor_slab.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

std::shared_ptr<Buffer> buffer_of(std::uint64_t bytes) {
  struct NoMemory final : Buffer {
    explicit NoMemory(std::uint64_t size) : Buffer("memory", size, BufferKind::device) {}
    void release_memory() noexcept override {}
  };
  return std::make_shared<NoMemory>(bytes);
}

TEST(Shape, KnowsItsExtents) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3U);
  EXPECT_EQ(shape.dim(1), 3);
  EXPECT_EQ(shape.back(), 4);
  EXPECT_EQ(shape.elements(), 24);
  EXPECT_EQ(shape.rows(), 6);
  EXPECT_EQ(shape.with_back(7), Shape({2, 3, 7}));
  EXPECT_EQ(shape.padded(), (std::array<std::int64_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(to_string(shape), "[2, 3, 4]");
}

TEST(Shape, MayHaveNoElements) {
  const Shape shape{0, 4};
  EXPECT_EQ(shape.elements(), 0);
  EXPECT_EQ(shape.rows(), 0);
}

TEST(Shape, RefusesRanksOutsideOneToFour) {
  expect_error(ErrorCode::invalid_argument, {"rank 1 to 4", "(0)"},
               [] { (void)Shape(std::span<const std::int64_t>{}); });
  expect_error(ErrorCode::invalid_argument, {"rank 1 to 4", "(5)", "[1, 2, 3, 4, 5]"}, [] {
    (void)Shape({1, 2, 3, 4, 5});
  });
}

TEST(Shape, RefusesNegativeExtents) {
  expect_error(ErrorCode::invalid_argument, {"[2, -1]"}, [] { (void)Shape({2, -1}); });
  expect_error(ErrorCode::invalid_argument, {"[0, -1]"}, [] { (void)Shape({0, -1}); });
}

TEST(Shape, RefusesMoreElementsThanCanBeCounted) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  expect_error(ErrorCode::invalid_argument, {"elements"}, [] { (void)Shape({kMost}); });
  expect_error(ErrorCode::invalid_argument, {"elements"}, [] {
    (void)Shape({std::int64_t{1} << 32, std::int64_t{1} << 32});
  });
  expect_error(ErrorCode::invalid_argument, {"elements"}, [] {
    (void)Shape({3, kMost / 2, 3, 3});
  });
}

TEST(Shape, CountsExtentsOfZeroAsOneSoThatStridesDoNotOverflow) {
  expect_error(ErrorCode::invalid_argument, {"elements"}, [] {
    (void)Shape({0, std::int64_t{1} << 40, std::int64_t{1} << 40});
  });
}

TEST(Shape, ByteCountsOfEveryLegalShapeAreExact) {
  for (std::uint32_t bit = 32; bit < 63; ++bit) {
    const std::int64_t extent = std::int64_t{1} << bit;
    try {
      EXPECT_GE(TensorSpec({extent}, DType::i64).bytes(), static_cast<std::uint64_t>(extent));
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
    }
  }
}

TEST(Strides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1, 0}));
  EXPECT_EQ(contiguous_strides({5}), (Strides{1, 0, 0, 0}));
}

TEST(TensorSpec, IsContiguousIfElementsAreInOrderWithoutGaps) {
  EXPECT_TRUE(TensorSpec({2, 3}, DType::f32).contiguous());
  EXPECT_FALSE(TensorSpec({2, 3}, DType::f32, {1, 2}).contiguous());
  EXPECT_FALSE(TensorSpec({2, 3}, DType::f32, {4, 1}).contiguous());
  EXPECT_FALSE(TensorSpec({2, 3}, DType::f32, {0, 1}).contiguous());
}

TEST(TensorSpec, StridesOfSingleExtentsDoNotMatter) {
  EXPECT_TRUE(TensorSpec({1, 3}, DType::f32, {99, 1}).contiguous());
  EXPECT_TRUE(TensorSpec({3, 1}, DType::f32, {1, 99}).contiguous());
}

TEST(TensorSpec, SpanBytesReachTheLastElement) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const auto extent = [&] { return static_cast<std::int64_t>(rng() % 5); };
    const TensorSpec spec({extent(), extent(), extent()}, DType::f16,
                          {extent() * 3, extent() * 2, extent()});
    std::int64_t furthest = -1;
    for (std::int64_t a = 0; a < spec.shape.dim(0); ++a) {
      for (std::int64_t b = 0; b < spec.shape.dim(1); ++b) {
        for (std::int64_t c = 0; c < spec.shape.dim(2); ++c) {
          furthest =
              std::max(furthest, a * spec.strides[0] + b * spec.strides[1] + c * spec.strides[2]);
        }
      }
    }
    ASSERT_EQ(spec.span_bytes(), static_cast<std::uint64_t>(furthest + 1) * 2);
  }
}

TEST(TensorSpec, BytesCountElementsAloneInWholeBlocks) {
  EXPECT_EQ(TensorSpec({2, 3}, DType::f32, {100, 1}).bytes(), 24U);
  EXPECT_EQ(TensorSpec({2, 64}, DType::q4_0).bytes(), 72U);
  EXPECT_EQ(TensorSpec({2, 64}, DType::q4_0).span_bytes(), 72U);
}

TEST(TensorSpec, ReadsAsTypeAndShape) {
  EXPECT_EQ(to_string(TensorSpec({2, 3}, DType::f16)), "f16 [2, 3]");
}

TEST(TensorOver, IsOnTheGivenBytesOfTheBuffer) {
  const auto buffer = buffer_of(64);
  const Tensor tensor = Tensor::over(buffer, {{4}, DType::f32}, 48, "tail");
  const TensorRef ref(tensor);
  EXPECT_EQ(ref->buffer, buffer);
  EXPECT_EQ(ref->offset, 48U);
  EXPECT_EQ(ref->name, "tail");
  EXPECT_EQ(tensor.shape(), Shape({4}));
  EXPECT_EQ(tensor.dtype(), DType::f32);
}

TEST(TensorOver, RefusesTensorsThatLeaveTheBuffer) {
  const auto buffer = buffer_of(64);
  expect_error(ErrorCode::invalid_argument, {"'w' f32 [17]", "(68)", "'memory'", "64"}, [&] {
    (void)Tensor::over(buffer, {{17}, DType::f32}, 0, "w");
  });
  expect_error(ErrorCode::invalid_argument, {"offset (52)", "(16)"}, [&] {
    (void)Tensor::over(buffer, {{4}, DType::f32}, 52);
  });
  expect_error(ErrorCode::invalid_argument, {"offset (68)"}, [&] {
    (void)Tensor::over(buffer, {{0}, DType::f32}, 68);
  });
  expect_error(ErrorCode::invalid_argument, {"offset (18446744073709551612)"}, [&] {
    (void)Tensor::over(buffer, {{4}, DType::f32}, std::numeric_limits<std::uint64_t>::max() - 3);
  });
}

TEST(TensorOver, CountsTheGapsOfStridedTensors) {
  const auto buffer = buffer_of(64);
  EXPECT_TRUE(Tensor::over(buffer, {{2, 2}, DType::f32, {14, 1}}));
  expect_error(ErrorCode::invalid_argument, {"(68)"}, [&] {
    (void)Tensor::over(buffer, {{2, 2}, DType::f32, {15, 1}});
  });
}

TEST(TensorOver, RefusesSizesThatDoNotFitIntoSixtyFourBits) {
  expect_error(ErrorCode::invalid_argument, {}, [] {
    (void)Tensor::over(buffer_of(64), {{std::int64_t{1} << 62U}, DType::f32});
  });
}

TEST(TensorOver, RefusesNegativeStrides) {
  for (const std::int64_t extent : {2, 4}) {
    expect_error(ErrorCode::invalid_argument, {}, [&] {
      (void)Tensor::over(buffer_of(64), {{extent}, DType::f32, {-1}});
    });
  }
  expect_error(ErrorCode::invalid_argument, {}, [] {
    (void)Tensor::over(buffer_of(64), {{2, 3}, DType::f32, {4, -1}}, 16);
  });
}

TEST(TensorOver, RefusesStridesThatOverflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62U;
  expect_error(ErrorCode::invalid_argument, {}, [] {
    (void)Tensor::over(buffer_of(64), {{5, 2}, DType::f32, {kHuge, 1}});
  });
}

TEST(TensorOver, RefusesOffsetsInsideAnElement) {
  const auto buffer = buffer_of(64);
  expect_error(ErrorCode::invalid_argument, {"offset (2)", "4 bytes"}, [&] {
    (void)Tensor::over(buffer, {{4}, DType::f32}, 2);
  });
  expect_error(ErrorCode::invalid_argument, {"offset (15)", "2 bytes"}, [&] {
    (void)Tensor::over(buffer, {{32}, DType::q4_0}, 15);
  });
}

TEST(TensorHandles, KeepTheBufferUntilTheLastOneIsGone) {
  auto buffer = buffer_of(64);
  const std::weak_ptr<Buffer> watched = buffer;
  Tensor first = Tensor::over(std::move(buffer), {{4}, DType::f32});
  {
    const Tensor copy = first;
    const Tensor moved = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): a moved-from handle is empty
    EXPECT_TRUE(moved);
    first = copy;
  }
  EXPECT_FALSE(watched.expired());
  first = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST(TensorHandles, AssigningOneToItselfKeepsIt) {
  Tensor tensor = Tensor::over(buffer_of(64), {{4}, DType::f32});
  const Tensor& same = tensor;
  tensor = same;
  EXPECT_EQ(tensor.shape(), Shape({4}));
}

TEST(TensorHandles, ReferencesOwnWhatTheyBorrowOnlyWhenAsked) {
  auto buffer = buffer_of(64);
  const std::weak_ptr<Buffer> watched = buffer;
  Tensor tensor = Tensor::over(std::move(buffer), {{4}, DType::f32});
  const TensorRef ref(tensor);
  Tensor owned = ref.own();
  tensor = Tensor();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(owned.shape(), Shape({4}));
  owned = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST(TensorHandles, AReferenceToNothingIsEmpty) {
  const Tensor none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(TensorRef());
  EXPECT_FALSE(TensorRef(none));
  const Tensor tensor = Tensor::over(buffer_of(64), {{4}, DType::f32});
  EXPECT_TRUE(TensorRef(tensor));
}

TEST(TensorSlab, ReportsEveryDroppedRecordOnceAndUsesItAgain) {
  auto* slab = new TensorSlab(7, 4);
  const auto dropped = [&] {
    std::size_t count = 0;
    slab->collect([&](const TensorRecord&) { ++count; });
    return count;
  };
  std::vector<Tensor> handles;
  std::vector<const TensorRecord*> records;
  for (int i = 0; i < 10; ++i) {
    handles.emplace_back(slab->create());
    records.push_back(&*TensorRef(handles.back()));
  }
  EXPECT_EQ(dropped(), 0U);
  handles.resize(3);
  EXPECT_EQ(dropped(), 7U);
  EXPECT_EQ(dropped(), 0U);
  const Tensor again(slab->create());
  EXPECT_EQ(std::ranges::count(records, &*TensorRef(again)), 1);
  slab->close();
  EXPECT_EQ(TensorRef(again)->slab->owner(), 7U);
}

TEST(TensorSlab, HandlesMayDieOnAnotherThreadWhileTheOwnerGoesOn) {
  for (int round = 0; round < 50; ++round) {
    auto* slab = new TensorSlab(1, 16);
    std::vector<Tensor> kept;
    kept.reserve(40);
    for (int i = 0; i < 40; ++i) {
      kept.emplace_back(slab->create());
    }
    const Tensor survivor = kept.front();
    std::thread other([moved = std::move(kept)]() mutable { moved.clear(); });
    for (int i = 0; i < 40; ++i) {
      Tensor own(slab->create());
      slab->collect([](const TensorRecord&) {});
    }
    slab->close();
    other.join();
    EXPECT_EQ(TensorRef(survivor)->slab, slab);
  }
}

TEST(TensorSlab, HandlesMayOutliveTheirSessionOnTwoThreads) {
  GraphExecutor executor(test_device("cpu"));
  const std::vector<float> values(4, 1.0F);
  for (int round = 0; round < 50; ++round) {
    std::unique_ptr<GraphSession> session(new GraphSession(executor.begin_recorded()));
    std::vector<Tensor> theirs, ours;
    Tensor x = session->input("x", {4}, values);
    for (int i = 0; i < 20; ++i) {
      theirs.push_back(x = add(*session, x, x));
      ours.push_back(x);
    }
    std::thread other([moved = std::move(theirs)]() mutable { moved.clear(); });
    for (int i = 0; i < 20; ++i) {
      x = add(*session, x, x);
    }
    session.reset();
    ours.clear();
    EXPECT_EQ(x.shape(), Shape({4}));
    other.join();
  }
}

}  // namespace
}  // namespace reprise::testing
