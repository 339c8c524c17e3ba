// Memory of the host used in place.
#include <cstring>
#include <optional>
#include <sys/mman.h>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kMappedRows = 61, kMappedColumns = 37;  // not whole pages
constexpr std::uint64_t kBytes = kMappedRows * kMappedColumns * 4;

/// Random f32 values in pages that nobody can write to, like a file's mapping.
class Pages {
 public:
  explicit Pages(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto values = random_bytes(rng, DType::f32, kMappedRows * kMappedColumns, -1, 1);
    void* start = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(start, values.data(), values.size());
    mprotect(start, kBytes, PROT_READ);
    bytes_ = {static_cast<const std::byte*>(start), kBytes};
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

class Import : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (imported_ == nullptr) {
      GTEST_SKIP() << "This device has memory of its own.";
    }
  }
  Tensor tensor() const {
    return Tensor::over(imported_, {{kMappedRows, kMappedColumns}, DType::f32}, 0, "w");
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device(GetParam());
  std::shared_ptr<const Pages> pages_ = std::make_shared<const Pages>(seed_);
  std::shared_ptr<Buffer> imported_ = device_.import("weights", pages_->bytes(), pages_);
};
INSTANTIATE_TEST_SUITE_P(On, Import, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Import, HoldsTheBytes) {
  EXPECT_EQ(imported_->name(), "weights");
  EXPECT_EQ(imported_->bytes(), kBytes);
  EXPECT_EQ(imported_->mapped(), nullptr);
  EXPECT_TRUE(std::ranges::equal(device_.to_host(tensor()), pages_->bytes()));
}

TEST_P(Import, GivesTheResultsOfACopy) {
  const Tensor copied =
      device_.from_host({kMappedRows, kMappedColumns}, DType::f32, pages_->bytes(), "copy");
  std::mt19937_64 rng(seed_);
  const auto x = random_bytes(rng, DType::f32, 3 * kMappedColumns, -1, 1);
  GraphExecutor executor(device_);
  for (const bool recorded : {false, true}) {
    auto session = recorded ? executor.begin_recorded() : executor.begin();
    const Tensor input = session.input("x", {3, kMappedColumns}, DType::f32, x);
    session.output("in place", matmul(session, input, tensor()));
    session.output("copy", matmul(session, input, copied));
    const Tensor part = slice(session, tensor(), 0, 5, 7);  // starts at no aligned place
    session.output("part in place", matmul(session, input, part));
    session.output("part", matmul(session, input, slice(session, copied, 0, 5, 7)));
    const FinishResult result = session.finish();
    EXPECT_EQ(result.read<std::byte>("in place"), result.read<std::byte>("copy"));
    EXPECT_EQ(result.read<std::byte>("part in place"), result.read<std::byte>("part"));
  }
}

TEST_P(Import, KeepsTheOwnerUntilTheLastUse) {
  const std::weak_ptr<const Pages> owner = pages_;
  const std::vector<std::byte> expected(pages_->bytes().begin(), pages_->bytes().end());
  GraphExecutor executor(device_);
  std::optional<CapturedGraph> graph;
  {
    auto session = executor.begin_recorded();
    session.output("y", copy(session, tensor()));
    graph = session.finish().graph;
  }
  pages_.reset();
  imported_.reset();
  EXPECT_FALSE(owner.expired()) << "the graph still reads it";
  graph->launch();
  EXPECT_EQ(graph->read<std::byte>("y"), expected);
  graph.reset();
  EXPECT_TRUE(owner.expired());
}

TEST_P(Import, IsNotWritten) {
  const std::vector<std::byte> bytes(4);
  expect_error(ErrorCode::invalid_argument, {"(weights)", "not written"},
               [&] { device_.write(imported_, 0, bytes); });
  GraphExecutor executor(device_);
  for (const bool view : {false, true}) {
    auto session = executor.begin();
    const std::vector<float> row(kMappedColumns, 1);
    const Tensor source = session.input("row", {1, kMappedColumns}, row);
    const Tensor target = view ? slice(session, tensor(), 0, 5, 7) : tensor();
    const std::vector<std::int32_t> first{0};
    const Tensor ids = session.input("ids", {1}, first);
    expect_error(ErrorCode::invalid_argument, {"(weights)", "not written", "set_rows"},
                 [&] { set_rows(session, target, source, ids); });
  }
  EXPECT_TRUE(std::ranges::equal(device_.to_host(tensor()), pages_->bytes()));
}

TEST_P(Import, IsNotPossibleFromAMisalignedStart) {
  const std::weak_ptr<const Pages> owner = pages_;
  EXPECT_EQ(device_.import("misaligned", pages_->bytes().subspan(1), pages_), nullptr);
  pages_.reset();
  imported_.reset();
  EXPECT_TRUE(owner.expired()) << "a refused import keeps nothing";
}

TEST_P(Import, OfNothingIsAnError) {
  expect_error(ErrorCode::invalid_argument, {"'none'", "(0)"},
               [&] { (void)device_.import("none", {}, nullptr); });
}

TEST_P(Import, TakesNoResultThatFeedsAHandle) {
  GraphExecutor executor(device_);
  ExecutableGraph graph(executor, [](GraphSession& s) {
    s.output("y", neg(s, s.input("x", {kMappedRows, kMappedColumns})));
  });
  graph.create_handle({.name = "h", .shape = {kMappedRows, kMappedColumns}});
  graph.bind("h", tensor());
  graph.feed("h", "y");
  const std::vector<float> x(kMappedRows * kMappedColumns);
  expect_error(ErrorCode::invalid_argument, {"(weights)", "not written"}, [&] {
    (void)graph.run({{"x", x}});
  });
  EXPECT_TRUE(std::ranges::equal(device_.to_host(tensor()), pages_->bytes()));
}

}  // namespace
}  // namespace reprise::testing
