#include "reprise/ops/collect.h"

#include <algorithm>
#include <cstring>

#include "framework/core/iteration_header.h"
#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::size_t kMaxSources = 4;
constexpr std::size_t kFirstSource = 2;

struct CollectAttributes {
  std::int32_t first_word = 0;
};

constexpr DTypeSet kWords = accepts({DType::f32, DType::i32});
constexpr Operand kOperands[] = {{"iteration", Access::read, accepts({DType::i32})},
                                 {"rows", Access::read_write, accepts({DType::i32})},
                                 {"source", Access::read, kWords},
                                 {"source_1", Access::read, kWords, true},
                                 {"source_2", Access::read, kWords, true},
                                 {"source_3", Access::read, kWords, true}};
constexpr Attribute kAttributes[] = {
    {"first_word", AttributeType::i32, offsetof(CollectAttributes, first_word)}};
constexpr std::string_view kShaders[] = {"collect"};

// Mirrors the push block of shaders/collect.comp.
struct Push {
  std::array<std::uint32_t, kMaxSources> ends{};  // words of the sources up to each one
  std::array<std::uint32_t, kMaxSources> offsets{};
  std::uint32_t iteration_offset = 0, rows_offset = 0;
  std::uint32_t capacity = 0, row_words = 0, first_word = 0;
};

Outputs infer(const OpCall& call) {
  require_rank(call, 0, 1);
  require_rank(call, 1, 2);
  if (call.inputs[0].shape().back() < kGridHeaderWords) {
    throw_invalid_argument("collect needs an iteration of at least ", kGridHeaderWords,
                           " words, but got ", describe(call, 0), ".");
  }
  std::int64_t words = call.as<CollectAttributes>().first_word;
  for (std::size_t i = kFirstSource; i < call.inputs.size(); ++i) {
    words += call.inputs[i] ? call.inputs[i].shape().elements() : 0;
  }
  if (call.as<CollectAttributes>().first_word < 0 || words > call.inputs[1].shape().back()) {
    throw_invalid_argument("collect writes words (", call.as<CollectAttributes>().first_word,
                           ") to ", words, " of a row, but ", describe(call, 1), " has ",
                           call.inputs[1].shape().back(), ".");
  }
  return {};
}

std::uint64_t source_words(const BoundCall& call) {
  std::uint64_t words = 0;
  for (const BoundTensor& source : call.tensors.subspan(kFirstSource)) {
    words += source ? static_cast<std::uint64_t>(source.shape().elements()) : 0;
  }
  return words;
}

Cost cost(const BoundCall& call) {
  const std::uint64_t bytes = 4 * source_words(call);
  return {.read_bytes = bytes + 4, .write_bytes = bytes, .operations = 0};
}

void reference(const HostCall& call) {
  const std::int64_t row = call.tensors[0].load_integer(kIterationsRun) - 1;
  const Shape& rows = call.tensors[1].shape();
  if (row < 0 || row >= rows.dim(0)) {
    return;
  }
  auto* to = elements_of<std::int32_t>(call.tensors[1]) + row * rows.back() +
             call.as<CollectAttributes>().first_word;
  for (const HostTensor& source : call.tensors.subspan(kFirstSource)) {
    if (source) {
      const std::int64_t words = source.shape().elements();
      std::memcpy(to, source.data, static_cast<std::size_t>(words) * sizeof(std::int32_t));
      to += words;
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& rows = call.tensors[1];
  Push push;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < kMaxSources; ++i) {
    const BoundTensor& source = call.tensors[kFirstSource + i];
    if (source) {
      end += indexable_elements(source);
      push.offsets[i] = view_of(source, traits).offset;
    }
    push.ends[i] = end;
  }
  push.iteration_offset = view_of(call.tensors[0], traits).offset;
  push.rows_offset = view_of(rows, traits).offset;
  push.capacity = word(rows.shape().dim(0));
  push.row_words = word(rows.shape().back());
  push.first_word = word(call.as<CollectAttributes>().first_word);
  dispatch_units(call, traits, steps, "collect", end, push);
}

}  // namespace

extern const OpDef collect_def;
const OpDef collect_def{.name = "collect",
                        .family = OpFamily::movement,
                        .operands = kOperands,
                        .attributes = kAttributes,
                        .push_bytes = sizeof(Push),
                        .shaders = kShaders,
                        .infer = infer,
                        .cost = cost,
                        .reference = reference,
                        .lower = lower};

}  // namespace reprise::ops

namespace reprise {

void collect(Site site, TensorRef iteration, TensorRef rows, std::span<const Tensor> sources,
             std::int32_t first_word) {
  site.recorder.check(ops::collect_def.name, site.where, [&] {
    if (sources.empty() || sources.size() > ops::kMaxSources) {
      throw_invalid_argument("collect takes 1 to ", ops::kMaxSources, " sources, but got (",
                             sources.size(), ").");
    }
  });
  TensorRef operands[ops::kFirstSource + ops::kMaxSources] = {iteration, rows};
  std::copy(sources.begin(), sources.end(), operands + ops::kFirstSource);
  record_in_place(site, ops::collect_def, operands, ops::CollectAttributes{first_word});
}

}  // namespace reprise
