#include "samples/llama/perplexity.h"

#include <algorithm>
#include <cmath>

namespace llama {
namespace {

using reprise::GraphSession;

constexpr std::int64_t kMaxRows = 64;  // of one pass: their logits are large
constexpr std::int64_t kMinChunk = 4;

/// -log of the probability that softmax gives the token.
double surprise(std::span<const float> logits, std::int32_t token) {
  const double max = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - max);
  }
  return max + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(token)]);
}

/// Mean and standard error of what was seen so far.
class Mean {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  Perplexity perplexity(std::size_t chunks) const {
    const auto n = static_cast<double>(count_);
    const double mean = sum_ / n;
    const double variance = std::max(squares_ / n - mean * mean, 0.0);
    const double value = std::exp(mean);
    const double error = count_ > 1 ? value * std::sqrt(variance / (n - 1)) : 0;
    return {.value = value, .error = error, .tokens = count_, .chunks = chunks};
  }

 private:
  std::size_t count_ = 0;
  double sum_ = 0, squares_ = 0;
};

/// Passes over parts of a chunk; parts of all lengths go through one graph.
class Passes {
 public:
  Passes(reprise::GraphExecutor& executor, const Model& model, const PerplexityRequest& request)
      : executor_(executor),
        model_(model),
        mode_(request.mode),
        state_(executor.device(), state_layout(-1, static_cast<std::int32_t>(request.context))),
        cache_(executor) {}

  /// The logits after each of the tokens, which begin at `position`.
  std::vector<float> run(std::span<const std::int32_t> tokens, std::int64_t position) {
    state_.set({{"rows", static_cast<std::int32_t>(tokens.size())},
                {"pos", static_cast<std::int32_t>(position)}});
    const auto pass = [&](GraphSession& s) {
      const auto ids = s.input("tokens", {s.extent("rows")}, reprise::DType::i32);
      s.output("logits", forward_all(s, model_, get_rows(s, model_.embedding, ids)));
    };
    const reprise::SessionOptions options{.name = "perplexity",
                                          .state = state_,
                                          .extents = {{"rows", kMaxRows}},
                                          .inputs = {{"tokens", tokens}}};
    if (mode_ == Mode::direct) {
      auto session = executor_.begin(options);
      pass(session);
      return session.finish().read("logits");
    }
    return cache_.run({.owner = owner_, .tag = "chunk"}, pass, options).read("logits");
  }

 private:
  reprise::GraphExecutor& executor_;
  const Model& model_;
  Mode mode_;
  reprise::StateBlock state_;
  reprise::GraphOwner owner_{"perplexity"};
  reprise::GraphCache cache_;
};

void require(const Model& model, const PerplexityRequest& request) {
  if (request.context < kMinChunk) {
    reprise::throw_invalid_argument("A chunk has (" + std::to_string(request.context) +
                                    ") tokens, but perplexity needs at least " +
                                    std::to_string(kMinChunk) + ".");
  }
  if (static_cast<std::int64_t>(request.tokens.size()) < request.context) {
    reprise::throw_invalid_argument("The text has (" + std::to_string(request.tokens.size()) +
                                    ") tokens, but a chunk has " + std::to_string(request.context) +
                                    "; a smaller context makes smaller chunks.");
  }
  require_tokens(model, request.tokens);
}

}  // namespace

Perplexity perplexity(reprise::GraphExecutor& executor, const Model& model,
                      const PerplexityRequest& request,
                      const std::function<void(const Perplexity&)>& report) {
  require(model, request);
  const auto length = static_cast<std::size_t>(request.context);
  const auto columns = static_cast<std::size_t>(model.sizes.vocabulary);
  Passes passes(executor, model, request);
  Mean mean;
  Perplexity result;
  for (std::size_t begin = 0; begin + length <= request.tokens.size(); begin += length) {
    const auto part = request.tokens.subspan(begin, length);
    std::vector<std::int32_t> chunk(part.begin(), part.end());
    if (request.first_token >= 0) {
      chunk.front() = request.first_token;
    }
    for (std::size_t done = 0; done < length;) {
      const std::size_t rows = std::min<std::size_t>(kMaxRows, length - done);
      const auto logits =
          passes.run(std::span(chunk).subspan(done, rows), static_cast<std::int64_t>(done));
      // The row at `at` foretells the token after it.
      for (std::size_t at = std::max(done, length / 2); at < std::min(done + rows, length - 1);
           ++at) {
        mean.add(
            surprise(std::span(logits).subspan((at - done) * columns, columns), chunk[at + 1]));
      }
      done += rows;
    }
    result = mean.perplexity(result.chunks + 1);
    if (report) {
      report(result);
    }
  }
  return result;
}

}  // namespace llama
