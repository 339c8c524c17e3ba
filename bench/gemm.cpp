// How fast are products of many rows on the CPU, against OpenBLAS on decoded weights?
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/open_blas.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/backend/decode.h"
#include "reprise/core/encode.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

/// What weights may have.
std::vector<DType> weight_types() {
  std::vector<DType> types;
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    if (decoder_of(static_cast<DType>(i)) != nullptr) {
      types.push_back(static_cast<DType>(i));
    }
  }
  return types;
}

struct GemmArguments {
  std::int64_t n = 512, m = 768, k = 768, threads = 1, reps = 15;
  std::string type = "f32", precision = "exact";
};

std::vector<float> decoded(DType type, std::span<const std::byte> bytes, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  decoder_of(type)(bytes.data(), values.size(), values.data());
  return values;
}

/// Weights of that type, of about the size of 1. Of formats that nothing is encoded in: random
/// blocks, drawn again until they are.
std::vector<std::byte> random_weights(DType type, std::int64_t count, std::mt19937_64& rng) {
  const DTypeInfo& info = info_of(type);
  std::vector<std::byte> bytes(bytes_of(type, static_cast<std::uint64_t>(count)));
  if (const Encode encode = encoder_of(type)) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return uniform(rng); });
    encode(values.data(), values.size(), bytes.data());
    return bytes;
  }
  const auto fits = [](float value) { return std::abs(value) <= 4; };
  const auto counts = [](float value) { return std::abs(value) >= 0.25F; };
  for (std::size_t at = 0; at < bytes.size(); at += info.block_bytes) {
    const auto block = std::span(bytes).subspan(at, info.block_bytes);
    std::vector<float> values;
    do {
      std::ranges::generate(block, [&] { return static_cast<std::byte>(rng()); });
      values = decoded(type, block, info.block_elements);
    } while (!std::ranges::all_of(values, fits) || std::ranges::none_of(values, counts));
  }
  return bytes;
}

/// A recorded product of the x and w given.
class Product {
 public:
  Product(const Device& device, Precision precision, const GemmArguments& a,
          const std::vector<float>& x, const Tensor& w)
      : executor_(device, {.precision = precision}), graph_(record(executor_, a, x, w)) {}
  void run() { graph_.launch(); }
  std::vector<float> result() { return graph_.read("y"); }

 private:
  static CapturedGraph record(GraphExecutor& executor, const GemmArguments& a,
                              const std::vector<float>& x, const Tensor& w) {
    const Tensor in = executor.device().from_host({a.n, a.k}, x, "x");
    auto session = executor.begin_recorded({.name = "gemm"});
    session.output("y", matmul(session, in, w));
    return session.finish().graph;
  }
  GraphExecutor executor_;
  CapturedGraph graph_;
};

void print_gemm(const GemmArguments& a) {
  require_between("-n", a.n, 1, 1 << 16);
  require_between("-m", a.m, 1, 1 << 16);
  require_between("-k", a.k, 1, 1 << 16);
  require_between("-t", a.threads, 1, kMaxThreads);
  require_between("-r", a.reps, 1, kMaxReps);
  const Device device = open_with_threads("cpu", a.threads);
  const OpenBlas blas(static_cast<unsigned>(a.threads));
  const std::vector<DType> types = weight_types();
  const DType type = *std::ranges::find(types, a.type, [](DType t) { return name_of(t); });
  if (a.k % info_of(type).block_elements != 0) {
    throw std::runtime_error("-k is (" + std::to_string(a.k) + "), but must be a multiple of " +
                             std::to_string(info_of(type).block_elements) + " for " + a.type + ".");
  }
  std::mt19937_64 rng(1);
  const auto x = decoded(DType::f32, random_weights(DType::f32, a.n * a.k, rng), a.n * a.k);
  const auto bytes = random_weights(type, a.m * a.k, rng);
  const auto w = decoded(type, bytes, a.m * a.k);
  std::vector<float> y(static_cast<std::size_t>(a.n * a.m));
  Product ours(device, *precision_of(a.precision), a, x,
               device.from_host({a.m, a.k}, type, bytes, "w"));

  Samples samples;
  const auto measure = [&](const char* name, auto&& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - start;
    samples.add(name, 2 * static_cast<double>(a.n * a.m * a.k) / ns.count());
  };
  for (std::int64_t i = -1; i < a.reps; ++i) {
    if (i == 0) {
      samples.clear();  // the first round warms up
    }
    measure("OpenBLAS", [&] { blas.multiply(a.n, a.m, a.k, x.data(), w.data(), y.data()); });
    measure("Reprise", [&] { ours.run(); });
  }
  double error = 0;
  double signal = 0;
  const auto result = ours.result();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto expected = static_cast<double>(y[i]);
    error += std::pow(static_cast<double>(result[i]) - expected, 2);
    signal += expected * expected;
  }
  const double limit = a.precision == "exact" ? 1e-10 : 1e-3;
  if (!(error <= limit * signal)) {
    throw std::runtime_error("The products differ: the normalised error is (" +
                             std::to_string(error / signal) + ").");
  }
  const nlohmann::ordered_json json{
      {"device", device.info().name},
      {"kernels", device.info().driver_info},
      {"openblas_core", blas.core()},
      {"type", a.type},
      {"precision", a.precision},
      {"threads", a.threads},
      {"n", a.n},
      {"m", a.m},
      {"k", a.k},
      {"reprise_gflops_p50", samples.median("Reprise")},
      {"openblas_gflops_p50", samples.median("OpenBLAS")},
      {"ratio", samples.median("Reprise") / samples.median("OpenBLAS")}};
  programs::print_json(json);
}

}  // namespace

void add_gemm(CLI::App& app) {
  const auto a = std::make_shared<GemmArguments>();
  CLI::App* gemm =
      app.add_subcommand("gemm", "The CPU's product of many rows against OpenBLAS; prints JSON");
  gemm->add_option("-n", a->n, "Rows of x")->capture_default_str();
  gemm->add_option("-m", a->m, "Rows of w")->capture_default_str();
  gemm->add_option("-k", a->k, "Columns of both")->capture_default_str();
  std::vector<std::string> types;
  for (const DType type : weight_types()) {
    types.emplace_back(name_of(type));
  }
  gemm->add_option("--type", a->type, "Type of w; OpenBLAS gets it decoded")
      ->check(CLI::IsMember(types))
      ->capture_default_str();
  gemm->add_option("--precision", a->precision, "exact or fast")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  gemm->add_option("-t,--threads", a->threads, "Threads of both")->capture_default_str();
  gemm->add_option("-r,--repetitions", a->reps, "Measured repetitions")->capture_default_str();
  gemm->callback([a] { print_gemm(*a); });
}

}  // namespace reprise::bench
