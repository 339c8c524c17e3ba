#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/ops/attention_form.h"
#include "framework/ops/host_rows.h"
#include "framework/ops/scores.h"

namespace reprise::ops {
namespace {

// What counts where the state holds something else.
double usable(float value) {
  return value > 0 && std::isnormal(value) ? static_cast<double>(value) : 0;
}

// Scores of one row and head for the keys [first, first + scores.size()): -infinity for those that
// it does not see.
class RowScores {
 public:
  RowScores(const HostCall& call, const AttentionForm& form)
      : mask_(call.tensors[3]),
        scale_(static_cast<double>(
            score_scale(call.value(form.scale), call.tensors[0].shape().back()))),
        softcap_(usable(call.value(form.softcap))),
        max_bias_(usable(call.value(form.max_bias))),
        heads_(call.tensors[0].shape().dim(1)) {}

  void fill(std::span<const double> query, std::span<const double> keys, std::int64_t row,
            std::int64_t head, std::int64_t place, std::int64_t first,
            std::span<double> scores) const {
    const double slope = max_bias_ > 0 ? alibi_slope(max_bias_, head, heads_) : 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::int64_t key = first + static_cast<std::int64_t>(i);
      const std::size_t from = static_cast<std::size_t>(key) * query.size();
      double score = scale_ * dot(query, keys.subspan(from, query.size()));
      score = softcap_ > 0 ? softcap_ * std::tanh(score / softcap_) : score;
      if (mask_) {
        const double added = mask_.load(mask_.row(0, 0, row) + key);
        // Whatever the key holds.
        score = added == -kInfinity ? added : score + (slope > 0 ? slope : 1) * added;
      } else if (slope > 0) {
        score -= slope * static_cast<double>(std::abs(place - key));
      }
      scores[i] = score;
    }
  }
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

 private:
  const HostTensor& mask_;
  double scale_, softcap_, max_bias_;
  std::int64_t heads_;
};

// sums = softmax(scores) * values, both from the same key on.
void combine(std::span<const double> scores, double sink, std::span<const double> values,
             std::span<double> sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  const auto counts = [](double score) { return score != -RowScores::kInfinity; };
  if (std::ranges::none_of(scores, counts)) {
    return;
  }
  double best = sink;
  for (const double score : scores) {
    best = std::max(best, score);
  }
  double total = !counts(sink) ? 0 : sink == best ? 1 : std::exp(sink - best);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!counts(scores[i])) {
      continue;
    }
    const double weight = std::exp(scores[i] - best);
    total += weight;
    for (std::size_t d = 0; d < sums.size(); ++d) {
      sums[d] += weight * values[i * sums.size() + d];
    }
  }
  for (double& sum : sums) {
    sum /= total;
  }
}

}  // namespace

void attention_reference(const HostCall& call) {
  const AttentionForm& form = call.as<AttentionForm>();
  const HostTensor& q = call.tensors[0];
  const HostTensor& k = call.tensors[1];
  const HostTensor& v = call.tensors[2];
  const HostTensor& mask = call.tensors[3];
  const HostTensor& sinks = call.tensors[4];
  const HostTensor& y = call.tensors[5];
  const std::int64_t rows = q.shape().dim(0);
  const std::int64_t heads = q.shape().dim(1);
  const std::int64_t share = heads / k.shape().dim(1);
  const std::int64_t given =
      form.has_past ? std::int64_t{call.value(form.past)} + rows : call.value(form.kv_len);
  const std::int64_t used = std::clamp<std::int64_t>(given, 0, k.shape().dim(0));
  const std::int64_t window = call.value(form.window);
  const auto dim = static_cast<std::size_t>(q.shape().back());
  const auto value_dim = static_cast<std::size_t>(v.shape().back());
  const RowScores row_scores(call, form);
  std::vector<double> query(dim);
  std::vector<double> sums(value_dim);
  std::vector<double> scores(static_cast<std::size_t>(used));
  std::vector<double> keys(scores.size() * dim);
  std::vector<double> values(scores.size() * value_dim);
  for (std::int64_t head = 0; head < heads; ++head) {
    if (head % share == 0) {
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const auto key = static_cast<std::int64_t>(j);
        load_row(k, k.row(0, key, head / share), std::span(keys).subspan(j * dim, dim));
        load_row(v, v.row(0, key, head / share),
                 std::span(values).subspan(j * value_dim, value_dim));
      }
    }
    const double sink = sinks ? sinks.load(head) : -RowScores::kInfinity;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t place = used - rows + row;
      std::int64_t seen = form.causal ? std::clamp<std::int64_t>(place + 1, 0, used) : used;
      seen = mask ? std::min(seen, mask.shape().back()) : seen;
      const std::int64_t first =
          std::clamp<std::int64_t>(window > 0 ? place - window + 1 : 0, 0, seen);
      load_row(q, q.row(0, row, head), query);
      const auto of_row = std::span(scores).first(static_cast<std::size_t>(seen - first));
      row_scores.fill(query, keys, row, head, place, first, of_row);
      combine(of_row, sink, std::span(values).subspan(static_cast<std::size_t>(first) * value_dim),
              sums);
      const std::int64_t to = y.row(0, row, head);
      for (std::size_t d = 0; d < value_dim; ++d) {
        y.store(to + static_cast<std::int64_t>(d), sums[d]);
      }
    }
  }
}

}  // namespace reprise::ops
