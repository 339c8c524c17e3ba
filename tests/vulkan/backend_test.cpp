// The Vulkan backend alone, through its public interface and under validation: copies, dispatches,
// repetition, timing, hazards, refusals, threads. Sessions have tests of their own.
#include <chrono>
#include <functional>
#include <thread>

#include <spirv/unified1/spirv.hpp>

#include "backends/vulkan/features.h"
#include "framework/core/op.h"
#include "reprise/backend/shader_interface.h"
#include "shaders/shader_table.h"
#include "tests/seed.h"
#include "tests/vulkan/norm_run.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::vulkan {
namespace {

// Two norms in f32, values up to about 4: a few units in the last place each.
constexpr double kTolerance = 1e-5;

Error caught(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::io, "nothing was thrown"};
}

bool mentions(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

using VulkanBackend = VulkanTest;

TEST_F(VulkanBackend, KnowsItsDevice) {
  EXPECT_EQ(device().info().backend, "vulkan");
  EXPECT_FALSE(device().info().name.empty());
  EXPECT_EQ(device().info().device_uuid.size(), 32U);
  EXPECT_FALSE(device().info().limits.empty());
  EXPECT_FALSE(device().info().features.empty());
  const DeviceTraits& traits = device().traits();
  EXPECT_FALSE(traits.runs_on_host);
  EXPECT_GE(traits.binding_alignment, 4U);
  EXPECT_EQ(kStorageAlignment % traits.binding_alignment, 0U);
  EXPECT_GE(traits.max_binding_bytes, std::uint64_t{1} << 27U);  // the least a driver may have
  EXPECT_GE(traits.subgroup_size, 1U);
}

TEST_F(VulkanBackend, CopiesRoundTrip) {
  NormRun run(device(), test::test_seed());
  const auto encoder = device().encoder({.name = "copies", .ends_at_host = true});
  run.copy(*encoder, NormRun::from_host, 0, NormRun::x, 2 * NormRun::kBytes - 1);
  encoder->barrier();
  run.copy(*encoder, NormRun::x, 0, NormRun::to_host, 2 * NormRun::kBytes - 1);
  const EncodingRef encoding = encoder->finish();
  run.run(encoding);
  const std::byte* got = run.pools[NormRun::to_host]->mapped();
  EXPECT_EQ(std::memcmp(got, run.pools[NormRun::from_host]->mapped(), 2 * NormRun::kBytes - 1), 0);
  EXPECT_EQ(got[2 * NormRun::kBytes - 1], std::byte{0xFF}) << "a copy wrote past its end";
}

TEST_F(VulkanBackend, DispatchesEqualTheHostComputation) {
  NormRun run(device(), test::test_seed());
  const auto encoding = run.whole(false);
  run.run(encoding);
  EXPECT_LE(run.error(2), kTolerance);
  const auto info = device().kernel_info(run.kernel);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->local_size, (std::array{run.kernel.constants[0], 1U, 1U}));
  EXPECT_EQ(info->push_bytes, ops::rms_norm_def.push_bytes);
  EXPECT_GT(info->pipeline_create_ns, 0U);
  EXPECT_FALSE(info->spirv.empty());
}

TEST_F(VulkanBackend, AnEncodingIsSubmittedManyTimesWithoutAllocating) {
  NormRun run(device(), test::test_seed());
  const auto encoding = run.whole(true);
  const std::uint64_t before = device().allocation_count();
  EXPECT_EQ(before, run.pools.size());
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (std::size_t k = 0; k < run.input.size(); ++k) {
      run.input[k] = std::sin(static_cast<float>(k + i * 7U)) * 2;
    }
    std::memcpy(run.pools[NormRun::from_host]->mapped(), run.input.data(), 2 * NormRun::kBytes);
    run.run(encoding);
    ASSERT_LE(run.error(2), kTolerance) << "submission " << i;
  }
  EXPECT_EQ(device().allocation_count(), before);
}

TEST_F(VulkanBackend, AnEncodingRepeatsInsideOneSubmission) {
  NormRun run(device(), test::test_seed());
  const auto start = device().encoder({.name = "upload"});
  run.upload(*start);
  const EncodingRef upload = start->finish();
  // x <- norm(x): three of them in a row are three norms only if each sees the one before.
  const auto middle = device().encoder({.name = "body", .reusable = true});
  run.norm(*middle, NormRun::x, NormRun::y);
  middle->barrier();
  run.copy(*middle, NormRun::y, 0, NormRun::x);
  const EncodingRef body = middle->finish();
  const auto end = device().encoder({.name = "download", .ends_at_host = true});
  run.copy(*end, NormRun::x, 0, NormRun::to_host);
  const EncodingRef download = end->finish();
  const EncodingRef list[] = {upload, body, body, body, download};
  run.run(list);
  EXPECT_LE(run.error(3), kTolerance);
}

TEST_F(VulkanBackend, AnEncodingThatIsNotReusableIsSubmittedOnce) {
  NormRun run(device(), test::test_seed());
  const auto encoding = run.whole(false);
  run.run(encoding);
  const Error error = caught([&] { run.run(encoding); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "whole")) << error.what();
}

TEST_F(VulkanBackend, ManyDispatchesGrowTheDescriptorPools) {
  NormRun run(device(), test::test_seed());
  const auto encoder = device().encoder({.name = "many", .ends_at_host = true});
  run.upload(*encoder);
  for (int i = 0; i < 200; ++i) {
    run.norm(*encoder, NormRun::x, NormRun::y);
    encoder->barrier();
  }
  run.copy(*encoder, NormRun::y, 0, NormRun::to_host);
  const EncodingRef encoding = encoder->finish();
  run.run(encoding);
  EXPECT_LE(run.error(1), kTolerance);
}

TEST_F(VulkanBackend, TimestampsLieInOrderInsideTheWaitedTime) {
  if (device().info().timestamp_valid_bits == 0) {
    GTEST_SKIP() << "The device has no timestamps.";
  }
  NormRun run(device(), test::test_seed());
  constexpr std::uint32_t kStamps = 3;
  const auto stamps = device().timestamps(kStamps);
  const auto ticks = device().allocate("ticks", kStamps * 8, BufferKind::download);
  const auto encoder = device().encoder({.name = "timed", .reusable = true, .ends_at_host = true});
  encoder->reset(stamps);
  run.upload(*encoder);
  encoder->stamp(stamps, 0);
  run.norm(*encoder, NormRun::x, NormRun::y);
  encoder->stamp(stamps, 1);
  encoder->barrier();
  run.norm(*encoder, NormRun::y, NormRun::z);
  encoder->stamp(stamps, 2);
  encoder->resolve(stamps, stamps->count(), ticks, 0);
  const EncodingRef encoding = encoder->finish();
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run.run(encoding);
    const std::chrono::nanoseconds wall = std::chrono::steady_clock::now() - begin;
    std::array<std::uint64_t, kStamps> taken{};
    std::memcpy(taken.data(), ticks->mapped(), sizeof(taken));
    EXPECT_LT(taken[0], taken[1]);
    EXPECT_LT(taken[1], taken[2]);
    EXPECT_LE(static_cast<double>(taken[2] - taken[0]) * device().info().timestamp_period_ns,
              static_cast<double>(wall.count()));
  }
}

TEST_F(VulkanBackend, ReadsBothClocksInAgreementWithItsTimestamps) {
  const auto before = device().clock();
  if (!before) {
    GTEST_SKIP() << "The driver cannot read both clocks together.";
  }
  const std::int64_t host_before = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto stamps = device().timestamps(1);
  const auto ticks = device().allocate("ticks", 8, BufferKind::download);
  const auto encoder = device().encoder({.name = "stamp", .ends_at_host = true});
  encoder->reset(stamps);
  encoder->stamp(stamps, 0);
  encoder->resolve(stamps, stamps->count(), ticks, 0);
  const EncodingRef list[] = {encoder->finish()};
  device().wait(device().submit(list, AfterSubmit::will_wait));
  const std::int64_t host_after = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t taken = 0;
  std::memcpy(&taken, ticks->mapped(), sizeof(taken));
  const double device_ns =
      static_cast<double>(taken - before->device_ticks) * device().info().timestamp_period_ns;
  const auto slack = static_cast<double>(before->max_deviation_ns);
  EXPECT_GE(device_ns, static_cast<double>(host_before - before->host_ns) - slack);
  EXPECT_LE(device_ns, static_cast<double>(host_after - before->host_ns) + slack);
}

TEST_F(VulkanBackend, RefusesTimestampsOfAnotherDeviceAndThoseThatDoNotExist) {
  const auto other = open_with({});
  const auto encoder = device().encoder({.name = "wrong"});
  EXPECT_EQ(caught([&] { encoder->reset(other->timestamps(1)); }).code(),
            ErrorCode::invalid_argument);
  const Error absent = caught([&] { encoder->stamp(device().timestamps(2), 2); });
  EXPECT_TRUE(mentions(absent, "(2)")) << absent.what();
}

TEST_F(VulkanBackend, ValidationSeesAMissingBarrierOnce) {
  NormRun run(device(), test::test_seed());
  const auto encoder = device().encoder({.name = "hazard"});
  run.norm(*encoder, NormRun::x, NormRun::y);
  run.norm(*encoder, NormRun::y, NormRun::z);
  const EncodingRef encoding = encoder->finish();
  run.run(encoding);
  EXPECT_NE(messages().find("READ_AFTER_WRITE"), std::string::npos) << messages();
  expect_messages(1);
}

TEST_F(VulkanBackend, ABarrierIsEnoughForValidation) {
  NormRun run(device(), test::test_seed());
  const auto encoder = device().encoder({.name = "no hazard"});
  run.norm(*encoder, NormRun::x, NormRun::y);
  encoder->barrier();
  run.norm(*encoder, NormRun::y, NormRun::z);
  const EncodingRef encoding = encoder->finish();
  run.run(encoding);
}

TEST_F(VulkanBackend, RefusesImpossibleAllocations) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62U;
  const Error huge = caught([&] { device().allocate("huge", kHuge, BufferKind::device); });
  EXPECT_EQ(huge.code(), ErrorCode::out_of_memory);
  EXPECT_TRUE(mentions(huge, std::to_string(kHuge)) && mentions(huge, "available")) << huge.what();
  const Error all =
      caught([&] { device().allocate("all", ~std::uint64_t{0}, BufferKind::upload); });
  EXPECT_EQ(all.code(), ErrorCode::out_of_memory);
  const Error none = caught([&] { device().allocate("none", 0, BufferKind::device); });
  EXPECT_EQ(none.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(device().allocation_count(), 0U);
}

TEST_F(VulkanBackend, NamesAnUnknownShader) {
  NormRun run(device(), test::test_seed());
  const TensorSpec spec({4}, DType::f32);
  const std::vector<BoundTensor> tensors{{&spec, 1, 0}, {&spec, 2, 0}, {&spec, 3, 0}};
  StepList steps;
  steps.dispatch({ops::rms_norm_def, 0, tensors, {&run.block, NormRun::state, 0}, {}},
                 device().traits(), {"no_such_kernel", {8}, 1}, {1, 1, 1}, std::uint32_t{0});
  const auto encoder = device().encoder({.name = "unknown"});
  const Error error = caught([&] { encoder->step(steps, 0, run.pools); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "no_such_kernel")) << error.what();
}

TEST_F(VulkanBackend, RefusesHostCallsWrongPushConstantsAndRangesPastTheEnd) {
  NormRun run(device(), test::test_seed());
  const TensorSpec spec({4}, DType::f32);
  const std::vector<BoundTensor> tensors{{&spec, 1, 0}, {&spec, 2, 0}, {&spec, 3, 0}};
  const BoundCall call{ops::rms_norm_def, 0, tensors, {&run.block, NormRun::state, 0}, {}};
  StepList steps;
  steps.call(call);
  steps.dispatch(call, device().traits(), {"rms_norm", {8}, 1}, {1, 1, 1}, std::uint32_t{0});
  const Binding end{NormRun::x, Access::read, BindingType::storage, 2 * NormRun::kBytes - 4, 8};
  const Binding start{NormRun::y, Access::write, BindingType::storage, 0, 8};
  steps.copy(0, end, start);
  Binding absent = start;
  absent.pool = 99;
  steps.copy(0, absent, start);
  const auto encoder = device().encoder({.name = "wrong"});
  const ErrorCode codes[] = {ErrorCode::unsupported, ErrorCode::invalid_argument,
                             ErrorCode::invalid_argument, ErrorCode::invalid_argument};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(caught([&] { encoder->step(steps, i, run.pools); }).code(), codes[i]) << "step " << i;
  }
}

TEST_F(VulkanBackend, RefusesMemoryOfAnotherDevice) {
  const auto other = open_with({});
  NormRun run(device(), test::test_seed());
  run.pools[NormRun::x] = other->allocate("foreign", 2 * NormRun::kBytes, BufferKind::device);
  const Error error = caught([&] { run.whole(false); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "foreign")) << error.what();
}

TEST_F(VulkanBackend, NamesWhatAKernelNeedsAndTheDeviceLacks) {
  ShaderInterface shader;
  shader.capabilities = {spv::CapabilityShader, spv::CapabilityStorageBuffer16BitAccess};
  const Error error = caught([&] { require_supported(shader, {}, "half_kernel"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(mentions(error, "half_kernel") && mentions(error, "16-bit")) << error.what();
  require_supported(shader, {.storage_16bit = true}, "half_kernel");
}

TEST_F(VulkanBackend, AWaitWithoutProgressEnds) {
  const auto impatient = open_with(std::chrono::milliseconds(50));
  const Error error =
      caught([&] { impatient->wait(impatient->submit({}, AfterSubmit::will_wait) + 1); });
  EXPECT_EQ(error.code(), ErrorCode::timeout);
  EXPECT_TRUE(mentions(error, "50 ms")) << error.what();
}

TEST_F(VulkanBackend, BuffersMayOutliveTheirBackend) {
  auto other = open_with({});
  const auto buffer = other->allocate("late", 64, BufferKind::upload);
  other.reset();
  std::memset(buffer->mapped(), 1, 64);
  EXPECT_EQ(std::ranges::count(std::span(buffer->mapped(), 64), std::byte{1}), 64);
}

TEST_F(VulkanBackend, RunsWithoutValidation) {
  const auto plain = open(test_device(enumerate()), {});
  NormRun run(*plain, test::test_seed());
  const auto encoding = run.whole(false);
  run.run(encoding);
  EXPECT_LE(run.error(2), kTolerance);
  EXPECT_EQ(validation_message_count(*plain), 0U);
}

TEST_F(VulkanBackend, RefusesADeviceThatDoesNotExist) {
  const Error error = caught([] { open(1000, {}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
}

TEST_F(VulkanBackend, EightThreadsEncodeAndSubmitConcurrently) {
  constexpr std::uint32_t kThreads = 8;
  const std::uint64_t seed = test::test_seed();
  std::vector<double> errors(kThreads, 0);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      NormRun run(device(), seed + t);
      for (int i = 0; i < 10; ++i) {
        const auto encoding = run.whole(i % 2 == 0);
        run.run(encoding);
        errors[t] = std::max(errors[t], run.error(2));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const double error : errors) {
    EXPECT_LE(error, kTolerance) << test::seed_note(seed);
  }
}

}  // namespace
}  // namespace reprise::vulkan
