// reprise_soak: replays a small decoder for a long time and says whether memory or handles grow.
#include <cmath>
#include <cstdio>
#include <cstring>

#include <CLI/CLI.hpp>

#include "tests/session/counted_backend.h"
#include "tests/soak/process_use.h"

namespace reprise::soak {
namespace {

constexpr std::int64_t kDim = 64, kTokens = 64, kContext = 128;
constexpr double kMaxBytes = 1024;  // per 10^4 replays
constexpr double kUnit = 1e4;
constexpr std::uint64_t kSamples = 400;

struct Options {
  std::string device = "cpu";
  std::uint64_t replays = 1'000'000;
  std::uint32_t iterations = 1;
  std::string profile;
  std::string timing = "replay";
};

Tensor weight(const Device& device, std::int64_t rows, float phase, const char* name) {
  std::vector<float> values(static_cast<std::size_t>(rows * kDim));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(phase * static_cast<float>(i + 1));
  }
  return device.from_host({rows, kDim}, values, name);
}

/// One layer of attention over a cache; the next token stays on the device. Every kContext tokens
/// the host begins anew.
class Decoding {
 public:
  Decoding(const Device& device, GraphExecutor& executor, const Options& options)
      : device_(device), iterations_(options.iterations) {
    auto s = executor.begin_recorded(
        {.name = "decode", .state = state_, .max_iterations = options.iterations});
    const Tensor x = add(s, get_rows(s, embedding_, s.state("token")),
                         s.input("bias", {kDim}, std::vector<float>(kDim)));
    const auto heads = [&](const Tensor& y) { return reshape(s, y, {1, 1, kDim}); };
    const auto pos = s.state("pos");
    set_rows(s, keys_, heads(matmul(s, x, wk_)), {.position = pos});
    set_rows(s, values_, heads(matmul(s, x, wv_)), {.position = pos});
    const Tensor y =
        attention(s, heads(matmul(s, x, wq_)), keys_, values_, {.kv_len = s.state("kv_len")});
    const Tensor next = argmax(s, matmul(s, add(s, x, reshape(s, y, {1, kDim})), embedding_));
    advance(s, next, {.position = pos, .token = s.state("token")});
    s.output("next", next);
    graph_ = s.finish({.slots = 3}).graph;
  }
  /// Replays of the body that it took.
  std::uint64_t step() {
    if (pos_ + iterations_ > kContext) {
      graph_.set_state("pos", 0);
      graph_.set_state("token", static_cast<std::int32_t>(++rounds_ % kTokens));
      bias_.assign(kDim, static_cast<float>(rounds_ % 5));
      pos_ = 0;
    }
    pos_ += iterations_;
    graph_.set_input("bias", bias_);
    tickets_[turn_] = graph_.launch_async({.iterations = iterations_});
    turn_ = 1 - turn_;
    if (tickets_[turn_]) {
      std::int32_t next = 0;
      std::memcpy(&next, tickets_[turn_].output("next").bytes.data(), sizeof(next));
      sum_ += static_cast<std::uint64_t>(next);
    }
    return iterations_;
  }
  void settle() {
    for (Ticket& ticket : tickets_) {
      if (ticket) {
        ticket.wait();
      }
    }
  }
  std::uint64_t sum() const { return sum_; }

 private:
  Device device_;
  std::uint32_t iterations_;
  Tensor embedding_ = weight(device_, kTokens, 0.37F, "embedding");
  Tensor wq_ = weight(device_, kDim, 0.71F, "wq"), wk_ = weight(device_, kDim, 0.13F, "wk"),
         wv_ = weight(device_, kDim, 0.29F, "wv");
  Tensor keys_ = device_.zeros({kContext, 1, kDim}, DType::f32, "keys");
  Tensor values_ = device_.zeros({kContext, 1, kDim}, DType::f32, "values");
  StateBlock state_{device_,
                    StateLayout()
                        .carried("pos", 0)
                        .carried("token", 0)
                        .derived("kv_len", field("pos") + 1, {.low = 0, .high = kContext})};
  CapturedGraph graph_;
  Ticket tickets_[2];
  std::size_t turn_ = 0;
  std::uint32_t pos_ = kContext;
  std::uint64_t rounds_ = 0, sum_ = 0;
  std::vector<float> bias_;
};

TimingMode timing_of(const std::string& name) {
  const auto mode = timing_mode_of(name);
  if (!mode) {
    throw_invalid_argument("The timing is (" + name + "), but off, replay and node are known.");
  }
  return *mode;
}

int soak(const Options& options) {
  const auto backend = std::make_shared<testing::CountedBackend>(open_device(options.device));
  const Device device(backend);
  GraphExecutor executor(device, {.profile = options.profile, .timing = timing_of(options.timing)});
  Decoding decoding(device, executor, options);
  const std::uint64_t warm_up = options.replays / 5, between = options.replays / kSamples;
  std::uint64_t replays = 0;
  while (replays < warm_up) {
    replays += decoding.step();
  }
  decoding.settle();
  const Handles handles_before = handles();
  const auto live_before = backend->live();
  const std::uint64_t allocations_before = backend->allocation_count();
  std::vector<Sample> samples;
  samples.reserve(kSamples + 1);
  samples.push_back({static_cast<double>(replays), static_cast<double>(used_bytes())});
  while (replays < options.replays) {
    const std::uint64_t until = replays + between;
    while (replays < until) {
      replays += decoding.step();
    }
    samples.push_back({static_cast<double>(replays), static_cast<double>(used_bytes())});
  }
  decoding.settle();
  const Handles handles_after = handles();
  const auto live_after = backend->live();
  const std::uint64_t allocations = backend->allocation_count() - allocations_before;
  const double bytes = slope(samples) * kUnit;
  std::printf("%s, %llu replays, %u per launch, timing %s, %s database\n",
              device.info().name.c_str(), static_cast<unsigned long long>(replays),
              options.iterations, options.timing.c_str(),
              options.profile.empty() ? "no" : "with a");
  std::printf("memory: %.1f MiB at first, %.1f MiB at last, slope %.1f bytes per 10^4 replays\n",
              samples.front().bytes / 1048576, samples.back().bytes / 1048576, bytes);
  std::printf("files: %zu, then %zu; threads: %zu, then %zu\n", handles_before.files,
              handles_after.files, handles_before.threads, handles_after.threads);
  std::printf("device buffers: %zu (%llu bytes), then %zu (%llu bytes); %llu allocations\n",
              live_before.buffers, static_cast<unsigned long long>(live_before.bytes),
              live_after.buffers, static_cast<unsigned long long>(live_after.bytes),
              static_cast<unsigned long long>(allocations));
  const bool grew = bytes >= kMaxBytes || handles_after.files > handles_before.files ||
                    handles_after.threads > handles_before.threads ||
                    live_after.buffers > live_before.buffers ||
                    live_after.bytes > live_before.bytes || allocations != 0;
  std::printf("%s (checksum %llu)\n", grew ? "IT GREW" : "nothing grew",
              static_cast<unsigned long long>(decoding.sum()));
  return grew ? 1 : 0;
}

}  // namespace
}  // namespace reprise::soak

int main(int argc, char** argv) {
  CLI::App app("Replays a small decoder and fails if memory or handles grow.");
  reprise::soak::Options options;
  app.add_option("--device", options.device, "cpu, vulkan, vulkan:1")->capture_default_str();
  app.add_option("--replays", options.replays, "of the body")
      ->check(CLI::Range(4000, 1000000000))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "of the body per launch")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--profile", options.profile, "profiling database to write");
  app.add_option("--timing", options.timing, "off, replay, node")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return reprise::soak::soak(options);
  } catch (const reprise::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
