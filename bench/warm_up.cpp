// What the first launch of a graph costs beyond the second one, once upload() or prewarm() paid for
// what it needs.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct WarmUpArguments {
  std::string device = "vulkan", format = "table";  // or json
  long long graphs = 9;
};

constexpr double kEqualUs = 50;  // launches that differ by less count as equal
constexpr std::int64_t kDim = 64, kHeads = 4, kHidden = 160, kPositions = 96, kVocabulary = 256;

Tensor weight(const Device& device, std::int64_t rows, std::int64_t columns) {
  return device.normal({rows, columns}, DType::f32, 7, 0, 0.05, "weight");
}

/// The logits of two layers of a decoder, keys and values in caches of this dtype.
Tensor decoder(Recorder& s, const Device& device, Tensor x, DType cache) {
  const Extent rows = x.shape().extent(0);
  const Param<std::int32_t> pos = s.state("pos");
  const Tensor norm = device.ones({kDim}, DType::f32, "norm");
  for (int layer = 0; layer < 2; ++layer) {
    const Tensor h = rms_norm(s, x, norm);
    const auto heads = [&] {
      return reshape(s, matmul(s, h, weight(device, kDim, kDim)), {rows, kHeads, kDim / kHeads});
    };
    const Tensor q = rope(s, heads(), {.position = pos});
    const Shape shape{kPositions, kHeads, kDim / kHeads};
    const Tensor keys = device.zeros(shape, cache, "keys");
    const Tensor values = device.zeros(shape, cache, "values");
    set_rows(s, keys, rope(s, heads(), {.position = pos}), {.position = pos});
    set_rows(s, values, heads(), {.position = pos});
    const Tensor seen = reshape(s, attention(s, q, keys, values, {.past = pos}), {rows, kDim});
    x = add(s, x, matmul(s, seen, weight(device, kDim, kDim)));
    const Tensor f = rms_norm(s, x, norm);
    const Tensor gate = matmul(s, f, weight(device, kHidden, kDim));
    const Tensor up = matmul(s, f, weight(device, kHidden, kDim));
    x = add(s, x, matmul(s, silu_mul(s, gate, up), weight(device, kDim, kHidden)));
  }
  return matmul(s, rms_norm(s, x, norm), weight(device, kVocabulary, kDim));
}

/// Decodes as many rows at once.
void decode_rows(GraphSession& s, const Device& device, const Extent& rows, DType cache) {
  const std::vector<std::int32_t> ids(static_cast<std::size_t>(rows.max), 3);
  const Tensor x =
      get_rows(s, weight(device, kVocabulary, kDim), s.input("ids", {rows}, std::span(ids)));
  s.output("next", argmax(s, decoder(s, device, x, cache)));
}

void decode_fed_back(GraphSession& s, const Device& device) {
  const Tensor x = get_rows(s, weight(device, kVocabulary, kDim), s.state("token"));
  const Tensor next = argmax(s, decoder(s, device, x, DType::f32));
  advance(s, next, {.position = s.state("pos"), .token = s.state("token"), .rows = 1});
  s.output("next", next);
}

void elementwise(GraphSession& s, const Device& device, std::int64_t rows, std::int64_t columns) {
  const std::vector<float> ones(static_cast<std::size_t>(rows * columns), 1);
  const Tensor x = s.input("x", {rows, columns}, ones);
  const Tensor norm = device.ones({columns}, DType::f32, "norm");
  s.output("y", softmax(s, rms_norm(s, gelu(s, mul(s, x, x)), norm)));
}

/// A kernel as users write it, compiled before anything is recorded.
RecordFunction own_kernel(const Device& device) {
  constexpr std::int32_t kCount = 1000;
  const char* const glsl = R"(
#version 450
#include "index.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; };
void main() {
  uint i = linear_index();
  if (i < count) {
    y[i] = x[i] * x[i];
  }
}
)";
  const auto f32 = accepts({DType::f32});
  const auto on_host = [](const KernelRun& run) {
    std::ranges::transform(run.read<float>(0), run.write<float>(1).begin(),
                           [](float x) { return x * x; });
  };
  const CustomKernel square =
      device.compile_kernel({.name = "square", .glsl = glsl, .function = on_host},
                            {.bindings = {{"x", Access::read, f32}, {"y", Access::write, f32}},
                             .push_bytes = sizeof(kCount),
                             .fields = {{"count", AttributeType::i32, 0}},
                             .constants = {{0, 64}}});
  return [=](GraphSession& s) {
    const Tensor x = s.input("x", {kCount}, std::vector<float>(kCount, 1));
    s.output("y", dispatch(s, square, {x}, {{{kCount}, DType::f32}}, kCount, {16, 1, 1})[0]);
  };
}

struct Case {
  const char* name;
  std::function<RecordFunction(const Device&)> pass;
  std::vector<ExtentBucket> extents{};
  std::uint32_t iterations = 1;
};

/// A function of a session and these arguments, as a case has it.
template <class F, class... Arguments>
auto pass_of(F f, Arguments... arguments) {
  return [=](const Device& device) -> RecordFunction {
    return [=](GraphSession& s) { f(s, device, arguments...); };
  };
}

const std::vector<Case>& all_cases() {
  const auto in_bucket = [](GraphSession& s, const Device& device) {
    decode_rows(s, device, s.extent("rows"), DType::f32);
  };
  static const std::vector<Case> kAll{
      {"decode", pass_of(decode_rows, Extent(1), DType::f32)},
      {"decode, f16 cache", pass_of(decode_rows, Extent(1), DType::f16)},
      {"prompt of 24", pass_of(decode_rows, Extent(24), DType::f32)},
      {"prompt in a bucket of 12", pass_of(in_bucket), {{"rows", 12}}},
      {"decode, 8 iterations", pass_of(decode_fed_back), {}, 8},
      {"elementwise 1 x 4096", pass_of(elementwise, 1, 4096)},
      {"elementwise 37 x 129", pass_of(elementwise, 37, 129)},
      {"own kernel", own_kernel}};
  return kAll;
}

/// How the first launch was paid for.
enum class PaidBy : std::uint8_t { nothing, upload, prewarm };
constexpr const char* kPaidBy[] = {"nothing", "upload", "prewarm"};

struct Launches {
  double paid_us = 0, first_us = 0, second_us = 0;
};

/// Long enough for the threads of a driver to fall asleep, which they do before a first launch.
/// Waking them takes up to 200 us in a virtual machine, so every launch has to.
void rest() {
  constexpr double kRestUs = 20'000;
  for (const double start = now_us(); now_us() - start < kRestUs;) {
  }
}

/// Of a fresh graph on a fresh device.
Launches launches_of(const Case& c, const std::string& name, KernelFamily family, PaidBy by) {
  OpenOptions open;
  open.kernels = family;
  const Device device = open_device(name, open);
  GraphExecutor executor(device);
  const StateBlock state(device, StateLayout().host("rows", 1).carried("pos").carried("token"));
  const SessionOptions options{
      .state = state, .max_iterations = c.iterations, .extents = c.extents};
  const RecordFunction record = c.pass(device);
  const auto time = [](auto&& f) { return ms_of(f) * 1e3; };
  Launches took;
  if (by == PaidBy::prewarm) {
    took.paid_us = time([&] { (void)executor.prewarm(record, options); });
  }
  CapturedGraph graph = executor.capture(record, options, {.run = false}).graph;
  if (by == PaidBy::upload) {
    took.paid_us = time([&] { (void)graph.upload(); });
  }
  const auto launch = [&] { graph.launch({.iterations = c.iterations}); };
  rest();
  took.first_us = time(launch);
  rest();
  took.second_us = time(launch);
  return took;
}

std::vector<KernelFamily> families_of(const std::string& device) {
  std::vector<KernelFamily> families;
  for (const KernelFamily family :
       {KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu}) {
    OpenOptions open;
    open.kernels = family;
    try {
      if (open_device(device, open).capabilities().kernels == family) {
        families.push_back(family);
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::unsupported || family == KernelFamily::portable) {
        throw;
      }
    }
  }
  return families;
}

nlohmann::ordered_json row_of(const WarmUpArguments& a, const Case& c, KernelFamily family,
                              PaidBy by) {
  Samples samples;
  for (long long i = 0; i < a.graphs; ++i) {
    const Launches took = launches_of(c, a.device, family, by);
    samples.add("paid", took.paid_us);
    samples.add("first", took.first_us);
    samples.add("second", took.second_us);
    const bool equal = took.first_us - took.second_us < kEqualUs;
    samples.add("ratio", equal ? 1 : took.first_us / took.second_us);
  }
  const auto ns = [&](const char* key) { return std::llround(samples.median(key) * 1e3); };
  return {{"device", open_device(a.device).info().name},
          {"family", name_of(family)},
          {"case", c.name},
          {"paid_by", kPaidBy[static_cast<std::size_t>(by)]},
          {"paid_ns", ns("paid")},
          {"first_ns", ns("first")},
          {"second_ns", ns("second")},
          {"first_to_second", samples.median("ratio")}};
}

/// README.md says what the columns mean.
void print_warm_up(const WarmUpArguments& a) {
  require_between("--graphs", a.graphs, 1, kMaxReps);
  // Of Mesa's drivers: before the first one is loaded.
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);  // NOLINT(concurrency-mt-unsafe)
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (a.format == "table") {
    std::printf("%-10s %-26s %-8s %12s %12s %12s %9s\n", "family", "case", "paid by", "paid us",
                "first us", "second us", "to second");
  }
  for (const KernelFamily family : families_of(a.device)) {
    for (const Case& c : all_cases()) {
      for (const PaidBy by : {PaidBy::nothing, PaidBy::upload, PaidBy::prewarm}) {
        rows.push_back(row_of(a, c, family, by));
        if (a.format == "table") {
          const nlohmann::ordered_json& r = rows.back();
          const auto us = [&](const char* key) { return r[key].get<double>() / 1e3; };
          std::printf("%-10s %-26s %-8s %12.1f %12.1f %12.1f %9.2f\n",
                      r["family"].get<std::string>().c_str(), c.name,
                      r["paid_by"].get<std::string>().c_str(), us("paid_ns"), us("first_ns"),
                      us("second_ns"), r["first_to_second"].get<double>());
          std::fflush(stdout);
        }
      }
    }
  }
  if (a.format == "json") {
    programs::print_json(rows);
  }
}

}  // namespace

void add_warm_up(CLI::App& app) {
  const auto a = std::make_shared<WarmUpArguments>();
  CLI::App* warm_up = app.add_subcommand(
      "warm-up", "The first launch of a graph beside its second one, by what was paid before");
  warm_up->add_option("--device", a->device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  warm_up->add_option("-n,--graphs", a->graphs, "Fresh graphs, each on a fresh device")
      ->capture_default_str();
  warm_up->add_option("-o,--output", a->format, "Format of the rows")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  warm_up->callback([a] { print_warm_up(*a); });
}

}  // namespace reprise::bench
