#include "framework/session/state/iteration_rows.h"

#include "framework/core/iteration_header.h"
#include "framework/session/device/unbacked_buffer.h"
#include "reprise/ops/collect.h"
#include "reprise/ops/views.h"
#include "reprise/session/session_options.h"

namespace reprise {
namespace {

constexpr std::size_t kMaxGrids = 1024;  // distinct ones of a plan: a llama has about 10
constexpr std::size_t kMaxSources = 4;   // of one collect

bool has_row(const TensorSpec& spec) {
  return (spec.dtype == DType::f32 || spec.dtype == DType::i32) && spec.shape.fixed() &&
         spec.bytes() <= kRowOutputBytes && spec.bytes() > 0;
}

}  // namespace

std::uint64_t IterationRows::row_bytes() const {
  return iteration ? static_cast<std::uint64_t>(rows.shape().back()) * StateLayout::kWordBytes : 0;
}

Tensor make_iteration() {
  return unbacked("iteration", {{kGridHeaderWords + kMaxGrids * kGridRowWords}, DType::i32});
}

void make_rows(std::uint32_t state_words, std::span<const TensorSpec> outputs,
               IterationRows& rows) {
  std::uint32_t words = state_words;
  for (const TensorSpec& spec : outputs) {
    rows.output_words.push_back(has_row(spec) ? words : kNoIndex);
    words += has_row(spec) ? static_cast<std::uint32_t>(spec.bytes() / StateLayout::kWordBytes) : 0;
  }
  rows.rows = unbacked("iteration rows", {{rows.capacity, words}, DType::i32});
}

void record_rows(Recorder& recorder, std::uint32_t state_words, std::span<const Tensor> outputs,
                 IterationRows& rows) {
  std::vector<Tensor> sources;
  if (state_words > 0) {
    sources.push_back(slice(recorder, recorder.state_block(), 0, 0, state_words));
  }
  std::vector<TensorSpec> specs;
  for (const Tensor& output : outputs) {
    specs.push_back(output.spec());
    if (has_row(output.spec())) {
      sources.push_back(output);
    }
  }
  make_rows(state_words, specs, rows);
  std::int64_t first_word = 0;
  for (std::size_t i = 0; i < sources.size(); i += kMaxSources) {
    const auto some = std::span(sources).subspan(i, std::min(kMaxSources, sources.size() - i));
    collect(recorder, rows.iteration, rows.rows, some, static_cast<std::int32_t>(first_word));
    for (const Tensor& source : some) {
      first_word += source.shape().elements();
    }
  }
}

void write_grids(const Device& device, const Tensor& iteration, std::span<const GridRow> of_steps,
                 std::span<const GraphExtent> extents,
                 std::optional<std::span<const std::uint32_t>> state) {
  std::vector<GridRow> grids(of_steps.begin(), of_steps.end());
  for (const GraphExtent& extent : extents) {
    grids.push_back({Groups(1, 1, 1), extent.word});
  }
  if (grids.size() > kMaxGrids) {
    throw_error(ErrorCode::unsupported,
                "A graph that runs several iterations per launch has at most ", kMaxGrids,
                " different grids, but this one has (", grids.size(), ").");
  }
  std::vector<std::uint32_t> words(kGridHeaderWords);
  words[kIterationGrids] = static_cast<std::uint32_t>(grids.size());
  words[kIterationRuns] = state ? 1 : 0;
  for (const auto& [groups, extent] : grids) {
    const Grid now = !state                     ? Grid{}
                     : extent == Extent::kFixed ? groups.grid
                                                : live_grid(groups, (*state)[extent]);
    const auto& [tile, units, local, axis] = groups.live;
    words.insert(words.end(), {groups.grid[0], groups.grid[1], groups.grid[2], extent,  //
                               now[0], now[1], now[2], 0,                               //
                               tile, units, local, axis});
  }
  const TensorRef to(iteration);
  const std::size_t kept = state ? sizeof(words[0]) : 0;  // the number of iterations
  device.write(to->buffer, to->offset + kept, std::as_bytes(std::span(words)).subspan(kept));
}

}  // namespace reprise
