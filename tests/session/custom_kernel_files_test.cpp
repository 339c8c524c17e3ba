// Kernels of the caller's own in graph files: compiled again from what the file holds, or given.
#include <fstream>

#include "framework/graph/hasher.h"
#include "framework/graph/saved_graph.h"
#include "reprise/session/saved_graphs.h"
#include "tests/file_contents.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/custom_kernels.h"

namespace reprise::testing {
namespace {

using test::TempFolder;

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// With an include of the caller's, a constant, a field of the state, and rows.
CustomKernel scale_kernel(const Device& device, const std::string& factor = "3.0") {
  return device.compile_kernel(
      {.name = "scale",
       .glsl = "#version 450\n"
               "#include \"index.glsl\"\n"
               "#include \"factor.glsl\"\n"
               "#define STATE_BINDING 2\n"
               "#include \"state.glsl\"\n"
               "layout(constant_id = 5) const int PLUS = 0;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
               "layout(push_constant) uniform Push { Param slope; uint count; };\n"
               "void main() {\n"
               "  uint i = linear_index();\n"
               "  if (i < count) { y[i] = x[i] * FACTOR * param_float(slope) + float(PLUS); }\n"
               "}\n",
       .includes = {{"factor.glsl", "#define FACTOR " + factor + "\n"}},
       .function =
           [](const KernelRun& run) {
             const float slope = run.value(run.push<ScalePush>().factor);
             std::ranges::transform(run.read<float>(0), run.write<float>(1).begin(),
                                    [&](float x) { return x * 3.0F * slope + 2.0F; });
           }},
      {.bindings = {{"x", Access::read, kFloats}, {"y", Access::write, kFloats}},
       .push_bytes = sizeof(ScalePush),
       .fields = {{"slope", AttributeType::param_f32, 0}, {"count", AttributeType::i32, 8}},
       .constants = {{0, 16}, {5, 2}},
       .rows_axis = 0});
}

class CustomKernelFiles : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::uint32_t kBucket = 6, kColumns = 8;

  void save(const CustomKernel& kernel) {
    auto s = executor_.begin_recorded({.state = state_, .extents = {{"rows", kBucket}}});
    const Tensor x = s.input("x", {s.extent("rows"), kColumns}, x_);
    s.output("y", dispatch(s, kernel, {x}, {TensorSpec(x.shape(), DType::f32)},
                           ScalePush{s.state("slope"), kBucket * kColumns}, {3, 1, 1})[0]);
    s.finish().graph.save(file_);
  }
  void expect_launches(LoadedGraph loaded) const {
    EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
    for (const std::int32_t rows : {6, 1, 4}) {
      const float slope = 0.25F * static_cast<float>(rows);
      state_.set("rows", rows);
      state_.set("slope", slope);
      loaded.graph.launch();
      Values expected(x_.begin(), x_.begin() + rows * static_cast<std::ptrdiff_t>(kColumns));
      for (float& value : expected) {
        value = value * 3.0F * slope + 2.0F;
      }
      EXPECT_EQ(loaded.graph.read("y"), expected) << rows << " rows";
    }
  }
  bool on_host() const { return device_.info().backend == "cpu"; }
  void expect_refused(const LoadOptions& options, const std::vector<std::string>& parts) {
    expect_error(ErrorCode::invalid_argument, parts,
                 [&] { (void)executor_.load_graph(file_, options); });
  }
  /// The file with something else in it, sound in all its other bytes.
  void change(const std::function<void(SavedGraph&)>& how) {
    SavedGraph graph = decode_graph(test::bytes_of_file(file_));
    how(graph);
    write(file_, encode_graph(graph));
  }

  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "graph";
  const StateBlock state_{
      device_, StateLayout().host("rows", 6, {.low = 0, .high = kBucket}).host_f32("slope", 1.0F)};
  const Values x_ = [] {
    Values values;
    for (std::uint32_t i = 0; i < kBucket * kColumns; ++i) {
      values.push_back(static_cast<float>(i) - 20.0F);  // products and sums are exact
    }
    return values;
  }();
};
INSTANTIATE_TEST_SUITE_P(On, CustomKernelFiles, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(CustomKernelFiles, LoadWithTheKernelsThatAreGiven) {
  save(scale_kernel(device_));
  GraphExecutor other(device_);
  expect_launches(other.load_graph(
      file_, {.state = state_, .kernels = {sum_kernel(device_), scale_kernel(device_)}}));
}

TEST_P(CustomKernelFiles, LoadWithTheCodeOfTheFileWhereItIsTrusted) {
  save(scale_kernel(device_));
  if (on_host()) {
    expect_refused(
        {.state = state_, .trust_kernels = true},
        {"runs the kernel 'scale'", "no file can hold the function", "LoadOptions::kernels"});
    return;
  }
  GraphExecutor other(test_device(GetParam()));
  const StateBlock state(other.device(), state_.layout());
  LoadedGraph loaded = other.load_graph(file_, {.state = state, .trust_kernels = true});
  state.set("slope", 1.0F);
  state.set("rows", 1);
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("y"), (Values{-58, -55, -52, -49, -46, -43, -40, -37}));
}

TEST_P(CustomKernelFiles, RunNoCodeOfAFileThatNobodyTrusts) {
  save(scale_kernel(device_));
  expect_refused({.state = state_}, {"runs the kernel 'scale'", "LoadOptions::kernels"});
}

TEST_P(CustomKernelFiles, RefuseAKernelOfAnotherSource) {
  save(scale_kernel(device_));
  expect_refused({.state = state_, .kernels = {scale_kernel(device_, "4.0")}},
                 {"'scale'", "the one that is given has another source or interface"});
}

TEST_P(CustomKernelFiles, RefuseAKernelOfAnotherDevice) {
  save(scale_kernel(device_));
  expect_refused(
      {.state = state_, .kernels = {scale_kernel(test_device(on_host() ? "vulkan" : "cpu"))}},
      {"'scale' was compiled for another device"});
}

TEST_P(CustomKernelFiles, GiveTheSameFileWhenTheyAreSavedAgain) {
  save(scale_kernel(device_));
  const std::filesystem::path again = folder_ / "again";
  executor_.load_graph(file_, {.state = state_, .kernels = {scale_kernel(device_)}})
      .graph.save(again);
  EXPECT_EQ(test::bytes_of_file(again), test::bytes_of_file(file_));
}

TEST_P(CustomKernelFiles, AreNotSavedForAFunctionAlone) {
  if (!on_host()) {
    GTEST_SKIP() << "this device runs shaders";
  }
  const CustomKernel kernel = device_.compile_kernel(
      {.name = "alone", .function = [](const KernelRun&) {}}, copy_interface());
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, Values(4));
  s.output("y", dispatch(s, kernel, {x}, {TensorSpec({4}, DType::f32)}, {}, {1, 1, 1})[0]);
  const CapturedGraph graph = s.finish().graph;
  expect_error(ErrorCode::unsupported, {"'alone' is a function alone", "KernelSource::glsl"},
               [&] { graph.save(file_); });
  EXPECT_FALSE(std::filesystem::exists(file_));
}

/// Of a file; on a CPU, where kernels are given, what is wrong with them is said another way.
struct Damage {
  std::function<void(SavedGraph&)> how;
  const char* message;
  const char* message_on_host;
  ErrorCode code = ErrorCode::invalid_argument;
};

TEST_P(CustomKernelFiles, WithChangedKernelsAreRefused) {
  static constexpr const char* kOther = "has another source or interface";
  const auto first = [](auto change) {
    return [change](SavedGraph& g) {
      change(g.kernels[0], *std::ranges::find(g.nodes, g.kernels[0].op, &SavedNode::op));
    };
  };
  const std::vector<Damage> damages{
      {first([](auto& k, auto&) { k.source.glsl += "\n"; }), "names another source", kOther},
      {first([](auto& k, auto&) { k.interface.constants.rbegin()->second = 9; }),
       "names another source", kOther},
      {first([](auto& k, auto&) { k.source.name = "other"; }), "has no such op", "no file can hold",
       on_host() ? ErrorCode::invalid_argument : ErrorCode::unsupported},
      {first([](auto& k, auto&) { k.interface.bindings[0].name = "z"; }), "this library's has",
       kOther, on_host() ? ErrorCode::invalid_argument : ErrorCode::unsupported},
      {first([](auto& k, auto&) { k.interface.rows_axis = 7; }), "axis (7)", kOther},
      {first([](auto& k, auto&) {
         k.source.glsl = {}, k.source.spirv = {1, 2, 3};
       }),
       "SPIR-V", kOther},
      {first([](auto&, auto& n) { n.results[0] = 1000; }), "the tensor (1000)", "tensor (1000)"},
      {first([](auto&, auto& n) { n.results[0] = kNoIndex; }), "the tensor (", "the tensor ("},
      {first([](auto&, auto& n) { n.attributes[8] = std::byte{0}; }), "(0) workgroups",
       "(0) workgroups"},
      {[](SavedGraph& g) { g.kernels.clear(); }, "has no such op", "has no such op",
       ErrorCode::unsupported},
  };
  save(scale_kernel(device_));
  const std::vector<std::byte> sound = test::bytes_of_file(file_);
  LoadOptions options{.state = state_, .trust_kernels = true};
  if (on_host()) {
    options.kernels = {scale_kernel(device_)};
  }
  for (const Damage& damage : damages) {
    write(file_, sound);
    change(damage.how);
    expect_error(damage.code, {on_host() ? damage.message_on_host : damage.message},
                 [&] { (void)executor_.load_graph(file_, options); });
  }
}

TEST_P(CustomKernelFiles, OfTheVersionBeforeKernelsAreRead) {
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, Values{1, 2, 3, 4});
  s.output("y", add(s, x, x));
  s.finish().graph.save(file_);
  std::vector<std::byte> bytes = test::bytes_of_file(file_);
  constexpr std::size_t kHash = 32, kCountBytes = 8, kVersion = 8;
  bytes.resize(bytes.size() - kHash - kCountBytes);  // version 2 ended before the list of kernels
  bytes[kVersion] = std::byte{2};
  const std::string hash = Hasher().bytes(bytes).hex();
  const auto text = std::as_bytes(std::span(hash));
  bytes.insert(bytes.end(), text.begin(), text.end());
  write(file_, bytes);
  LoadedGraph loaded = executor_.load_graph(file_);
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("y"), (Values{2, 4, 6, 8}));
}

}  // namespace
}  // namespace reprise::testing
