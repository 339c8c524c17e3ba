// Sources of kernels of the caller's, whatever stands in them: compiled, or refused with a reason.
#include "tests/session/custom_kernels.h"

namespace reprise::testing {
namespace {

class KernelSources : public ::testing::Test {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device("vulkan");
};

TEST_F(KernelSources, ThatDoNotCompileAreAnErrorWithTheLine) {
  expect_error(ErrorCode::invalid_argument,
               {"The kernel 'odd' does not compile", "odd:8", "nowhere"}, [&] {
                 (void)device_.compile_kernel(
                     shader(std::string(kX) + kY, "  y[i] = x[i] + nowhere;"), copy_interface());
               });
}

// Validation would name what is not enabled.
TEST_F(KernelSources, UseFeaturesThatNoCapabilityNames) {
  const struct {
    const char *feature, *head, *body;
  } uses[] = {
      {"shaderSubgroupExtendedTypes",
       "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
       "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
       "#extension GL_EXT_shader_subgroup_extended_types_int64 : require\n",
       "  y[i] = x[i] + float(subgroupAdd(int64_t(i)));"},
      {"subgroupBroadcastDynamicId", "#extension GL_KHR_shader_subgroup_ballot : require\n",
       "  y[i] = x[i] + subgroupBroadcast(x[i], subgroupBroadcastFirst(i) % gl_SubgroupSize);"},
      {"shaderZeroInitializeWorkgroupMemory",
       "#extension GL_EXT_null_initializer : require\nshared uint total = {};\n",
       "  y[i] = x[i] + float(total);"}};
  const auto has = device_.info().features;
  for (const auto& [feature, head, body] : uses) {
    const auto named = std::ranges::find(has, feature, [](const auto& f) { return f.first; });
    ASSERT_NE(named, has.end()) << feature;
    if (named->second) {
      (void)device_.compile_kernel(shader(std::string(head) + kX + kY, body), copy_interface());
    }
  }
}

TEST_F(KernelSources, WithAnErrorInAnIncludedFileSayItsNameAndLine) {
  KernelSource source = shader(std::string("#include \"mine.glsl\"\n") + kX + kY, kCopy);
  source.includes["mine.glsl"] = "// fine\nfloat wrong() { return what; }\n";
  expect_error(ErrorCode::invalid_argument, {"mine.glsl:2", "what"},
               [&] { (void)device_.compile_kernel(source, copy_interface()); });
}

TEST_F(KernelSources, IncludeTheFilesOfTheProjectAndOfTheCallerOnly) {
  for (const char* path : {"../../etc/passwd", "/etc/passwd", "missing.glsl", ""}) {
    const KernelSource source = shader("#include \"" + std::string(path) + "\"\n" + kX + kY, kCopy);
    expect_error(ErrorCode::invalid_argument, {"does not compile", "odd:3", path},
                 [&] { (void)device_.compile_kernel(source, copy_interface()); });
  }
  expect_error(ErrorCode::invalid_argument, {"state.glsl", "index.glsl"}, [&] {
    (void)device_.compile_kernel(shader("#include \"no.glsl\"\n", ""), copy_interface());
  });
}

TEST_F(KernelSources, ThatIncludeEachOtherAreRefused) {
  KernelSource source = shader(std::string("#include \"a.glsl\"\n") + kX + kY, kCopy);
  source.includes["a.glsl"] = "#include \"b.glsl\"\n#include \"b.glsl\"\n";
  source.includes["b.glsl"] = "#include \"a.glsl\"\n#include \"a.glsl\"\n";
  expect_error(ErrorCode::invalid_argument, {"include each other"},
               [&] { (void)device_.compile_kernel(source, copy_interface()); });
}

std::string many(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += piece;
  }
  return text;
}

TEST_F(KernelSources, MayHaveStatementsOfManyThousandOperands) {
  const std::string sum = "y[i] = x[i]" + many("+1", 40'000) + ";";
  (void)device_.compile_kernel(shader(std::string(kX) + kY, sum), copy_interface());
}

TEST_F(KernelSources, OfHostileTextAreErrorsAndNothingElse) {
  using namespace std::string_literals;
  const std::string fine = shader(std::string(kX) + kY, kCopy).glsl;
  const std::vector<std::pair<std::string, std::string>> sources{
      {"   ", "does not compile"},
      {"no GLSL at all", "does not compile"},
      {std::string((std::size_t{1} << 20U) + 1, ' '), "(1048577) bytes; at most 1048576"},
      {fine + "\0"s, "has a zero byte at"},
      {"#version 450\nfloat f = " + std::string(1'000'000, '('), "does not compile"},
      {"#if " + std::string(1'000'000, '!') + "1\n#endif\n" + fine, "does not compile"},
      {"#define A " + many("+a", 800) + "\n#define B " + many(" A", 1000) + "\nfloat f = 0" +
           many(" B", 2),
       "with its macros and includes, of the kernel"},
      {"#version 450\nvoid main() {", "does not compile"},
      {"#version 9999\n" + fine, "does not compile"},
      {"#error stop here\nvoid main() {}\n", "stop here"},
      {"#version 450\nvoid other() {}\n", "does not compile"},
  };
  for (const auto& [glsl, message] : sources) {
    SCOPED_TRACE(glsl.substr(0, 60));
    expect_error(ErrorCode::invalid_argument, {"odd", message}, [&, &text = glsl] {
      (void)device_.compile_kernel({.name = "odd", .glsl = text}, copy_interface());
    });
  }
}

TEST_F(KernelSources, WithRandomChangesCompileOrAreErrors) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const std::string fine = elementwise_source("sum", "x[i] + w[i]", nullptr).glsl;
  int refused = 0;
  for (int turn = 0; turn < 200; ++turn) {
    std::string text = fine;
    for (int change = 0; change < 3; ++change) {
      text[rng() % text.size()] = static_cast<char>(1 + rng() % 127);
    }
    try {
      (void)device_.compile_kernel({.name = "odd", .glsl = text}, elementwise_interface());
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::invalid_argument ||
                  error.code() == ErrorCode::unsupported)
          << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST_F(KernelSources, OfGarbageOrCutOffSpirvAreErrorsAndNothingElse) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const std::vector<std::uint32_t> fine = sum_kernel(device_).info().spirv;
  const auto refused = [&](std::vector<std::uint32_t> spirv) {
    KernelInterface interface = elementwise_interface();
    interface.constants.clear();  // they are in place already
    try {
      (void)device_.compile_kernel({.name = "odd", .spirv = std::move(spirv)}, interface);
      return false;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::invalid_argument ||
                  error.code() == ErrorCode::unsupported)
          << error.what();
      return true;
    }
  };
  EXPECT_FALSE(refused(fine));
  for (std::size_t words = 1; words < fine.size(); words += 1 + rng() % 5) {
    EXPECT_TRUE(refused({fine.begin(), fine.begin() + static_cast<std::ptrdiff_t>(words)}))
        << words << " words of " << fine.size();
  }
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<std::uint32_t> noise(1 + rng() % 200);
    std::ranges::generate(noise, [&] { return static_cast<std::uint32_t>(rng()); });
    EXPECT_TRUE(refused(noise));
    noise[0] = fine[0];  // with the magic number
    EXPECT_TRUE(refused(noise));
  }
  int changed = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::uint32_t> words = fine;
    words[5 + rng() % (words.size() - 5)] ^= std::uint32_t{1} << (rng() % 32);
    changed += refused(words) ? 1 : 0;
  }
  EXPECT_GT(changed, 100);
  expect_error(ErrorCode::invalid_argument, {"(4194308) bytes; at most 4194304"}, [&] {
    (void)device_.compile_kernel(
        {.name = "odd", .spirv = std::vector<std::uint32_t>((std::size_t{1} << 20U) + 1)},
        copy_interface());
  });
}

}  // namespace
}  // namespace reprise::testing
