// SavedGraph: a recorded graph as a file holds it. Plain rows with indices; nothing here knows
// whether they make sense to a device: whoever loads a graph records it again from them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/make_plan.h"
#include "reprise/core/custom_kernel.h"
#include "reprise/graph/execution_plan.h"

namespace reprise {

/// Those that a file may have, as numbers from 0; `own` is none of them.
inline constexpr std::uint8_t kSavedOrigins = 9;

struct SavedScope {
  std::uint32_t outer = 0, name = 0;
  std::int32_t index = -1;
};

struct SavedOp {
  std::string name, schema;
};

struct SavedTensor {
  TensorSpec spec;
  std::uint64_t offset = 0;
  std::uint32_t storage = 0;
  std::uint64_t storage_bytes = 0;  // persistent ones
  std::uint32_t name = 0;
  TensorRole role = TensorRole::activation;
  std::uint32_t alias_of = kNoIndex;
  StorageOrigin origin = StorageOrigin::transient;  // of views, too; callers and arrays by name
};

struct SavedNode {
  std::uint32_t op = 0, scope = 0;
  std::uint32_t file = 0, function = 0, line = 0;  // texts
  std::vector<std::uint32_t> operands;             // kNoIndex: absent
  std::vector<std::uint32_t> results;
  std::vector<std::byte> attributes;  // what the schema names; the rest is 0
};

struct SavedPort {
  std::string name;
  std::uint32_t tensor = 0;
  std::vector<std::byte> values;  // inputs: what they were set to last
};

/// A kernel of the program's own.
struct SavedKernel {
  std::uint32_t op = 0;
  KernelSource source;  // without a function
  KernelInterface interface;
};

/// One fact about a plan or what it was made for, and its value, both for people.
using FingerprintPart = std::pair<std::string, std::string>;

struct SavedGraph {
  std::string library_version;
  std::string name;
  std::vector<std::string> texts;  // those of Names, then those of source lines
  std::uint32_t name_count = 1;    // how many are of Names
  std::vector<SavedScope> scopes;  // without the outermost
  std::vector<SavedOp> ops;
  std::vector<SavedTensor> tensors;  // in the order of the graph
  std::vector<SavedNode> nodes;
  bool has_state = false;
  std::vector<StateFieldInfo> state_fields;  // and arrays after them
  std::uint32_t stop_word = kNoIndex;
  std::vector<SavedPort> inputs, outputs;
  std::vector<GraphExtent> extents;
  std::uint32_t max_iterations = 1;
  std::uint32_t slots = 1;
  PlanOptions options;
  std::vector<FingerprintPart> fingerprint;
  std::string structure_hash;
  std::vector<SavedKernel> kernels;  // since version 3
};

inline constexpr std::uint32_t kGraphFileVersion = 3, kOldestGraphFileVersion = 2;
/// Limits of a file, so that reading one costs about what its size promises.
inline constexpr std::uint64_t kMaxSavedSource = 1U << 20U;  // of the GLSL of a kernel
inline constexpr std::uint32_t kMaxScopeDepth = 256;
inline constexpr std::uint64_t kMaxGraphFileBytes = std::uint64_t{1} << 30U;

/// The bytes of a file: magic, version, rows, and a hash of all of it. Little-endian. Throws
/// invalid_argument for a text, a depth of scopes or a size above the limits.
std::vector<std::byte> encode_graph(const SavedGraph& graph);
/// Throws unsupported for another version and invalid_argument for what is no whole graph file.
/// Checks the bytes, the ranges of enumerations, the shapes and the indices of texts, scopes and
/// ops; whether ops and tensors fit together is the loader's to find out.
SavedGraph decode_graph(std::span<const std::byte> bytes);

}  // namespace reprise
