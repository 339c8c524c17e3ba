// Tensors of other libraries, and ours lent to them. The other side is played by Foreign.
#include "reprise/session/dlpack.h"

#include <atomic>
#include <cstring>
#include <dlpack/dlpack.h>
#include <limits>
#include <optional>
#include <thread>

#include "framework/session/device/tensor_factory.h"
#include "reprise/backend/backend.h"
#include "tests/session/gate_op.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Dims = std::vector<std::int64_t>;

/// A tensor of another library: counts how often it is given back.
struct Foreign {
  explicit Foreign(Bytes values, Dims of_shape, DLDataType dtype = {kDLFloat, 32, 1},
                   const std::optional<Dims>& of_strides = std::nullopt)
      : bytes(std::move(values)), shape(std::move(of_shape)), strides(of_strides.value_or(Dims())) {
    managed.dl_tensor.data = bytes.data();
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = static_cast<int>(shape.size());
    managed.dl_tensor.dtype = dtype;
    managed.dl_tensor.shape = shape.data();
    managed.dl_tensor.strides = of_strides ? strides.data() : nullptr;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->given_back;
    };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  Bytes bytes;
  Dims shape, strides;
  std::atomic<int> given_back = 0;
  DLManagedTensor managed{};
};

/// Bytes are enough: nothing is computed with them.
Bytes random(std::mt19937_64& rng, DType dtype, std::int64_t elements) {
  Bytes bytes(bytes_of(dtype, static_cast<std::uint64_t>(elements)));
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(rng()); });
  return bytes;
}

bool in_place(const Tensor& tensor) {
  return TensorRef(tensor)->buffer->kind() == BufferKind::imported;
}

class Dlpack : public ::testing::TestWithParam<std::string> {
 protected:
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device(GetParam());
  std::mt19937_64 rng_{seed_};
};
INSTANTIATE_TEST_SUITE_P(On, Dlpack, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Dlpack, ContiguousTensorsAreReadWhereTheyLieAndGivenBackAfterTheLastUse) {
  Foreign foreign(random_bytes(rng_, DType::f32, 2257, -1, 1), {61, 37});
  const std::vector<float> ones(37, 1);
  std::optional<Tensor> tensor = from_dlpack(device_, &foreign.managed, {.name = "w"});
  EXPECT_EQ(to_string(tensor->spec()), "f32 [61, 37]");
  EXPECT_EQ(TensorRef(*tensor)->name, "w");
  EXPECT_EQ(device_.to_host(*tensor), foreign.bytes);
  const bool kept = in_place(*tensor);
  EXPECT_TRUE(kept || GetParam() != "cpu");
  EXPECT_EQ(foreign.given_back, kept ? 0 : 1);
  const Tensor copy = device_.from_host({61, 37}, DType::f32, foreign.bytes);
  GraphExecutor executor(device_);
  std::optional<FinishResult> result;
  {
    auto session = executor.begin_recorded();
    const Tensor x = session.input("x", {1, 37}, ones);
    session.output("in place", matmul(session, x, *tensor));
    session.output("copy", matmul(session, x, copy));
    result = session.finish();
  }
  EXPECT_EQ(result->read("in place"), result->read("copy"));
  tensor.reset();
  EXPECT_EQ(foreign.given_back, kept ? 0 : 1) << "the graph still reads it";
  result.reset();
  EXPECT_EQ(foreign.given_back, 1);
}

TEST_P(Dlpack, TensorsBeginAnywhereInTheirMemory) {
  for (const std::uint64_t offset : {4U, 64U, 4096U, 5000U}) {
    Foreign foreign(random(rng_, DType::f32, 2000), {500});
    foreign.managed.dl_tensor.byte_offset = offset;
    const Tensor tensor = from_dlpack(device_, &foreign.managed);
    const auto first = foreign.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    EXPECT_EQ(device_.to_host(tensor), Bytes(first, first + 2000)) << offset;
    EXPECT_TRUE(in_place(tensor) || GetParam() != "cpu") << offset;
  }
}

TEST_P(Dlpack, EveryDtypeIsRead) {
  const struct {
    DLDataType type;
    DType dtype;
  } rows[] = {{{kDLFloat, 32, 1}, DType::f32},
              {{kDLFloat, 16, 1}, DType::f16},
              {{kDLBfloat, 16, 1}, DType::bf16},
              {{kDLInt, 32, 1}, DType::i32},
              {{kDLInt, 64, 1}, DType::i64}};
  for (const auto& row : rows) {
    Foreign foreign(random(rng_, row.dtype, 30), {5, 3, 2}, row.type);
    const Tensor tensor = from_dlpack(device_, &foreign.managed);
    EXPECT_EQ(to_string(tensor.spec()), std::string(name_of(row.dtype)) + " [5, 3, 2]");
    EXPECT_EQ(device_.to_host(tensor), foreign.bytes);
  }
}

TEST_P(Dlpack, AScalarIsOneElement) {
  Foreign foreign(random(rng_, DType::f32, 1), {});
  foreign.managed.dl_tensor.shape = nullptr;
  const Tensor tensor = from_dlpack(device_, &foreign.managed);
  EXPECT_EQ(to_string(tensor.spec()), "f32 [1]");
  EXPECT_EQ(device_.to_host(tensor), foreign.bytes);
}

TEST_P(Dlpack, StridedTensorsAreGathered) {
  const struct {
    Dims shape, strides;
  } rows[] = {{{37, 61}, {1, 37}},
              {{5, 7}, {70, 2}},
              {{4, 3}, {0, 1}},
              {{2, 3, 4, 5}, {100, 7, 21, 1}},
              {{2, 1, 3}, {3, std::numeric_limits<std::int64_t>::min(), 1}},
              {{600, 700}, {1, 600}}};  // several pieces
  for (const auto& row : rows) {
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < row.shape.size(); ++d) {
      reach += row.shape[d] == 1 ? 0 : (row.shape[d] - 1) * row.strides[d];
    }
    Foreign foreign(random(rng_, DType::f32, reach), row.shape, {kDLFloat, 32, 1}, row.strides);
    Bytes expected;
    Dims index(row.shape.size());
    for (bool more = true; more;) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < index.size(); ++d) {
        at += row.shape[d] == 1 ? 0 : index[d] * row.strides[d];
      }
      expected.insert(expected.end(), foreign.bytes.begin() + 4 * at,
                      foreign.bytes.begin() + 4 * at + 4);
      std::size_t d = index.size();
      for (; d > 0 && ++index[d - 1] == row.shape[d - 1]; --d) {
        index[d - 1] = 0;
      }
      more = d > 0;
    }
    const Tensor tensor = from_dlpack(device_, &foreign.managed);
    EXPECT_TRUE(tensor.spec().contiguous());
    EXPECT_EQ(device_.to_host(tensor), expected) << to_string(tensor.shape());
  }
}

TEST_P(Dlpack, CopiesAreGivenBackAtOnceAndMayBeWritten) {
  Foreign wanted(random(rng_, DType::f32, 100), {100});
  Foreign misaligned(random(rng_, DType::f32, 100), {99});
  misaligned.managed.dl_tensor.byte_offset = 2;
  for (Foreign* foreign : {&wanted, &misaligned}) {
    const Tensor tensor = from_dlpack(device_, &foreign->managed, {.copy = foreign == &wanted});
    EXPECT_EQ(foreign->given_back, 1);
    const auto first = foreign->bytes.begin() +
                       static_cast<std::ptrdiff_t>(foreign->managed.dl_tensor.byte_offset);
    EXPECT_EQ(device_.to_host(tensor), Bytes(first, first + 4 * tensor.shape().elements()));
    device_.write(TensorRef(tensor)->buffer, 0, Bytes(4));
    EXPECT_EQ(device_.to_host(slice(tensor, 0, 0, 1)), Bytes(4));
  }
}

TEST_P(Dlpack, ATensorWithoutADeleterIsRead) {
  Foreign foreign(random(rng_, DType::f32, 10), {10});
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(device_.to_host(from_dlpack(device_, &foreign.managed)), foreign.bytes);
}

TEST_P(Dlpack, WhatCannotBeReadIsRefusedAndGivenBackOnce) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  constexpr ErrorCode kInvalid = ErrorCode::invalid_argument, kNo = ErrorCode::unsupported;
  static std::int64_t dims[] = {2, 3, 4, 5, 6};
  static std::int64_t negative[] = {2, -3}, none[] = {2, 0}, wrapping[] = {kMost, kMost};
  static std::int64_t back[] = {3, -1}, far[] = {kMost, 1};
  const struct {
    ErrorCode code;
    std::vector<std::string> parts;
    void (*change)(DLTensor&);
  } rows[] = {
      {kInvalid, {"(-1) dimensions"}, [](DLTensor& t) { t.ndim = -1; }},
      {kInvalid, {"(-2147483648)"}, [](DLTensor& t) { t.ndim = -2147483647 - 1; }},
      {kNo, {"(5) dimensions", "4"}, [](DLTensor& t) { t.ndim = 5, t.shape = dims; }},
      {kNo, {"(2147483647) dimensions"}, [](DLTensor& t) { t.ndim = 2147483647; }},
      {kInvalid, {"(2) dimensions", "null"}, [](DLTensor& t) { t.shape = nullptr; }},
      {kInvalid, {"[2, -3]"}, [](DLTensor& t) { t.shape = negative; }},
      {kInvalid, {"[2, 0]", "(0) elements"}, [](DLTensor& t) { t.shape = none; }},
      {kInvalid, {"2^56"}, [](DLTensor& t) { t.shape = wrapping; }},
      {kNo, {"f", "(-1)"}, [](DLTensor& t) { t.strides = back; }},
      {kInvalid, {"(9223372036854775807)", "2^56"}, [](DLTensor& t) { t.strides = far; }},
      {kInvalid, {"f32 [2, 3]", "null"}, [](DLTensor& t) { t.data = nullptr; }},
      {kInvalid, {"(18446744073709551615)"}, [](DLTensor& t) { t.byte_offset = kEnd; }},
      {kInvalid,
       {"last address"},
       [](DLTensor& t) { t.byte_offset = kEnd - reinterpret_cast<std::uintptr_t>(t.data) - 10; }},
      {kNo, {"device type (2)"}, [](DLTensor& t) { t.device.device_type = kDLCUDA; }},
      {kNo, {"device type (7)"}, [](DLTensor& t) { t.device.device_type = kDLVulkan; }},
      {kNo, {"(4) lanes"}, [](DLTensor& t) { t.dtype.lanes = 4; }},
      {kNo, {"(0) lanes"}, [](DLTensor& t) { t.dtype.lanes = 0; }},
      {kNo, {"(64) bits"}, [](DLTensor& t) { t.dtype.bits = 64; }},
      {kNo,
       {"(8) bits"},
       [](DLTensor& t) {
         t.dtype = {kDLInt, 8, 1};
       }},
      {kNo, {"code (1)"}, [](DLTensor& t) { t.dtype.code = kDLUInt; }},
      {kNo, {"code (255)"}, [](DLTensor& t) { t.dtype.code = 255; }},
  };
  for (const bool copy : {false, true}) {
    for (const auto& row : rows) {
      SCOPED_TRACE(row.parts.front());
      Foreign foreign(random(rng_, DType::f32, 6), {2, 3});
      row.change(foreign.managed.dl_tensor);
      expect_error(row.code, row.parts,
                   [&] { (void)from_dlpack(device_, &foreign.managed, {.copy = copy}); });
      EXPECT_EQ(foreign.given_back, 1);
    }
  }
  expect_error(kInvalid, {"null pointer"}, [&] { (void)from_dlpack(device_, nullptr); });
}

/// Given back as another library would.
struct GiveBack {
  void operator()(DLManagedTensor* managed) const { managed->deleter(managed); }
};
using Lent = std::unique_ptr<DLManagedTensor, GiveBack>;

template <class T>
std::span<T> memory_of(const Lent& lent, std::size_t elements) {
  const DLTensor& t = lent->dl_tensor;
  return {reinterpret_cast<T*>(static_cast<std::byte*>(t.data) + t.byte_offset), elements};
}

class LentDlpack : public ::testing::Test {
 protected:
  const Device device_ = test_device("cpu");
};

TEST_F(LentDlpack, ATensorIsSeenAsItLies) {
  const struct {
    DType dtype;
    DLDataType type;
  } rows[] = {{DType::f32, {kDLFloat, 32, 1}},
              {DType::f16, {kDLFloat, 16, 1}},
              {DType::bf16, {kDLBfloat, 16, 1}},
              {DType::i32, {kDLInt, 32, 1}},
              {DType::i64, {kDLInt, 64, 1}}};
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const auto& row : rows) {
    SCOPED_TRACE(name_of(row.dtype));
    const Bytes bytes = random(rng, row.dtype, 24);
    const Tensor tensor = device_.from_host({2, 3, 4}, row.dtype, bytes);
    const Lent lent(to_dlpack(device_, slice(permute(tensor, {2, 0, 1}), 2, 1, 2)));
    const DLTensor& t = lent->dl_tensor;
    EXPECT_EQ(t.device.device_type, kDLCPU);
    EXPECT_EQ(t.device.device_id, 0);
    EXPECT_EQ(t.dtype.code, row.type.code);
    EXPECT_EQ(t.dtype.bits, row.type.bits);
    EXPECT_EQ(t.dtype.lanes, 1);
    ASSERT_EQ(t.ndim, 3);
    EXPECT_EQ(Dims(t.shape, t.shape + 3), (Dims{4, 2, 2}));
    EXPECT_EQ(Dims(t.strides, t.strides + 3), (Dims{1, 12, 4}));
    const std::size_t size = info_of(row.dtype).block_bytes;
    const auto seen = memory_of<std::byte>(lent, 12 * size);
    EXPECT_TRUE(std::ranges::equal(seen, std::span(bytes).subspan(4 * size, 12 * size)));
  }
}

TEST_F(LentDlpack, WhatOthersWriteIsInTheTensor) {
  const Tensor tensor = device_.zeros({4}, DType::f32);
  const Lent lent(to_dlpack(device_, slice(tensor, 0, 1, 3)));
  memory_of<float>(lent, 3)[1] = 7;
  const std::vector<float> expected{0, 0, 7, 0};
  const auto bytes = std::as_bytes(std::span(expected));
  EXPECT_EQ(device_.to_host(tensor), Bytes(bytes.begin(), bytes.end()));
}

TEST_F(LentDlpack, ComesBackInPlace) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const Bytes bytes = random(rng, DType::f32, 1000);
  std::optional<Tensor> tensor = device_.from_host({10, 100}, DType::f32, bytes);
  const std::weak_ptr<Buffer> memory = TensorRef(*tensor)->buffer;
  std::optional<Tensor> back = from_dlpack(device_, to_dlpack(device_, *tensor));
  EXPECT_TRUE(in_place(*back));
  tensor.reset();
  EXPECT_EQ(device_.to_host(*back), bytes);
  back.reset();
  EXPECT_TRUE(memory.expired());
}

TEST_F(LentDlpack, OutlivesTheTensorAndTheDevice) {
  Lent lent;
  {
    const Device device = open_device("cpu");
    lent.reset(to_dlpack(device, device.full({3}, DType::i32, 5)));
  }
  EXPECT_TRUE(std::ranges::equal(memory_of<std::int32_t>(lent, 3), std::vector(3, 5)));
}

TEST_F(LentDlpack, StaysWhereTheTensorIsFreed) {
  const Tensor tensor = device_.full({3}, DType::i32, 5);
  Lent lent(to_dlpack(device_, tensor));
  device_.free(tensor);
  EXPECT_TRUE(std::ranges::equal(memory_of<std::int32_t>(lent, 3), std::vector(3, 5)));
  expect_error(ErrorCode::stale, {"freed"}, [&] { (void)to_dlpack(device_, tensor); });
  EXPECT_NE(TensorRef(tensor)->buffer->mapped(), nullptr);
  lent.reset();
  device_.backend().release_freed();
  EXPECT_EQ(TensorRef(tensor)->buffer->mapped(), nullptr) << "nobody uses it any more";
}

TEST_F(LentDlpack, WaitsForTheWorkInFlight) {
  GraphExecutor executor(device_);
  const std::vector<float> values{1, 2};
  const Tensor read = device_.from_host({1, 2}, values, "read");
  const Tensor written = device_.zeros({1, 2}, DType::f32, "written");
  Gate gate;
  auto s = executor.begin();
  const Tensor row = pass_gate(s, read);
  set_rows(s, written, row, SetRowsAttributes{.position = 0});
  const Ticket ticket = s.submit();
  gate.wait_until_reached();
  Lent lent;
  std::atomic<bool> returned = false;
  std::thread other([&] {
    lent.reset(to_dlpack(device_, written));
    returned = true;
  });
  for (int i = 0; i < 20'000 && !returned; ++i) {  // what should wait gets every chance not to
    std::this_thread::yield();
  }
  EXPECT_FALSE(returned) << "the work in flight is not done";
  gate.open();
  other.join();
  EXPECT_TRUE(std::ranges::equal(memory_of<float>(lent, 2), values));
}

TEST_F(LentDlpack, WhatCannotBeLentIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] { (void)to_dlpack(device_, Tensor()); });
  GraphExecutor executor(device_);
  auto session = executor.begin();
  const Tensor transient = session.input("t", {2}, std::vector<float>{1, 2});
  expect_error(ErrorCode::invalid_argument, {"transient"},
               [&] { (void)to_dlpack(device_, transient); });
  expect_error(ErrorCode::unsupported, {"'q' q8_0 [32]", "block"},
               [&] { (void)to_dlpack(device_, device_.zeros({32}, DType::q8_0, "q")); });
  Foreign foreign(Bytes(8), {2});
  const Tensor imported = from_dlpack(device_, &foreign.managed, {.name = "f"});
  expect_error(ErrorCode::unsupported, {"'f' f32 [2]", "used in place"},
               [&] { (void)to_dlpack(device_, imported); });
  OpenOptions options;
  options.map_device_memory = false;
  const Device other = open_device("cpu", options);
  const Tensor unmapped = other.zeros({2}, DType::f32, "u");
  expect_error(ErrorCode::unsupported, {"'u'", "map_device_memory"},
               [&] { (void)to_dlpack(other, unmapped); });
  expect_error(ErrorCode::invalid_argument, {"another device"},
               [&] { (void)to_dlpack(device_, unmapped); });
  const Device vulkan = test_device("vulkan");
  expect_error(ErrorCode::unsupported, {"'v'", "vulkan", "to_host"},
               [&] { (void)to_dlpack(vulkan, vulkan.zeros({2}, DType::f32, "v")); });
}

}  // namespace
}  // namespace reprise::testing
