#include "framework/graph/saved_graph.h"

#include <algorithm>

#include "framework/graph/byte_stream.h"
#include "framework/graph/hasher.h"

namespace reprise {
namespace {

constexpr std::string_view kMagic = "REPRISEG";
constexpr std::size_t kHashBytes = 32;  // hex digits, at the end

std::string hash_of(std::span<const std::byte> bytes) { return Hasher().bytes(bytes).hex(); }

// What follows is the format: `a` is a ByteWriter over const rows or a ByteSource over new ones.

void spec_fields(ByteWriter& a, const TensorSpec& spec) {
  a.choice(spec.dtype, kDTypeCount);
  a.value(static_cast<std::uint8_t>(spec.shape.rank()));
  for (std::size_t d = 0; d < spec.shape.rank(); ++d) {
    a.value(spec.shape.dim(d));
    a.value(spec.strides[d]);
  }
  a.value(spec.shape.extent_word());
}

void spec_fields(ByteSource& a, TensorSpec& spec) {
  DType dtype{};
  a.choice(dtype, kDTypeCount);
  std::uint8_t rank = 0;
  a.choice(rank, Shape::kMaxRank + 1);
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  Strides strides{};
  for (std::size_t d = 0; d < rank; ++d) {
    a.value(dims[d]);
    a.value(strides[d]);
  }
  std::uint32_t extent = 0;
  a.value(extent);
  spec = {Shape(std::span<const std::int64_t>(dims).first(rank)).with_extent(extent), dtype,
          strides};
}

template <class A, class T>
void tensor_fields(A& a, T& t) {
  spec_fields(a, t.spec);
  a.value(t.offset);
  a.value(t.storage);
  a.value(t.storage_bytes);
  a.value(t.name);
  a.choice(t.role, 5);
  a.value(t.alias_of);
  a.choice(t.origin, kSavedOrigins);
}

template <class A, class N>
void node_fields(A& a, N& n) {
  for (auto* number : {&n.op, &n.scope, &n.file, &n.function, &n.line}) {
    a.value(*number);
  }
  a.list(n.operands, [&](auto& tensor) { a.value(tensor); });
  a.list(n.results, [&](auto& tensor) { a.value(tensor); });
  a.blob(n.attributes);
}

template <class A, class F>
void state_field(A& a, F& f) {
  a.text(f.name);
  a.choice(f.owner, 3);
  a.choice(f.dtype, kDTypeCount);
  a.value(f.word);
  a.value(f.count);
  a.text(f.expression);
  a.value(f.range.low);
  a.value(f.range.high);
}

template <class A, class K>
void kernel_fields(A& a, K& k) {
  a.value(k.op);
  a.text(k.source.name);
  a.text(k.source.glsl, kMaxSavedSource);
  a.list(k.source.spirv, [&](auto& word) { a.value(word); });
  a.list(k.source.includes, [&](auto& file) {
    a.text(file.first);
    a.text(file.second, kMaxSavedSource);
  });
  a.list(k.interface.bindings, [&](auto& binding) {
    a.text(binding.name);
    a.choice(binding.access, 4);
    a.value(binding.dtypes);
  });
  a.value(k.interface.push_bytes);
  a.list(k.interface.fields, [&](auto& field) {
    a.text(field.name);
    a.choice(field.type, 5);
    a.value(field.offset);
  });
  a.list(k.interface.constants, [&](auto& constant) {
    a.value(constant.first);
    a.value(constant.second);
  });
  a.optional(k.interface.rows_axis);
}

template <class A, class G>
void graph_fields(A& a, G& g, std::uint32_t version) {
  const auto ports = [&](auto& list) {
    a.list(list, [&](auto& port) {
      a.text(port.name);
      a.value(port.tensor);
      a.blob(port.values);
    });
  };
  a.text(g.library_version);
  a.text(g.name);
  a.list(g.texts, [&](auto& text) { a.text(text); });
  a.value(g.name_count);
  a.list(g.scopes, [&](auto& scope) {
    a.value(scope.outer);
    a.value(scope.name);
    a.value(scope.index);
  });
  a.list(g.ops, [&](auto& op) {
    a.text(op.name);
    a.text(op.schema);
  });
  a.list(g.tensors, [&](auto& tensor) { tensor_fields(a, tensor); });
  a.list(g.nodes, [&](auto& node) { node_fields(a, node); });
  a.choice(g.has_state, 2);
  a.list(g.state_fields, [&](auto& field) { state_field(a, field); });
  a.value(g.stop_word);
  ports(g.inputs);
  ports(g.outputs);
  a.list(g.extents, [&](auto& extent) {
    a.value(extent.word);
    a.value(extent.max);
  });
  a.value(g.max_iterations);
  a.value(g.slots);
  a.choice(g.options.reuse, 2);
  auto& passes = g.options.passes;
  for (auto* pass : {&passes.dead_nodes, &passes.reorder, &passes.in_place, &passes.fuse,
                     &passes.fuse_approximate}) {
    a.choice(*pass, 2);
  }
  a.list(g.fingerprint, [&](auto& part) {
    a.text(part.first);
    a.text(part.second);
  });
  a.text(g.structure_hash);
  if (version >= 3) {
    a.list(g.kernels, [&](auto& kernel) { kernel_fields(a, kernel); });
  }
}

void require_index(std::uint64_t index, std::uint64_t count, std::string_view what) {
  if (index >= count) {
    throw_invalid_argument("The file names ", what, " (", index, "), but has ", count, ".");
  }
}

/// Paths are made by recursion, and every one of them is a text.
void check_scopes(const SavedGraph& g) {
  std::vector<std::uint32_t> depths{0};
  for (const SavedScope& scope : g.scopes) {
    require_index(scope.outer, depths.size(), "the scope");
    require_index(scope.name, g.name_count, "the name");
    depths.push_back(depths[scope.outer] + 1);
    if (depths.back() > kMaxScopeDepth) {
      throw_invalid_argument("Scopes in a file are nested at most ", kMaxScopeDepth,
                             " deep, but one is at depth (", depths.back(), ").");
    }
  }
}

void check_indices(const SavedGraph& g) {
  require_index(g.name_count, g.texts.size() + 1, "the count of names");
  require_index(0, g.name_count, "the first name");
  check_scopes(g);
  for (const SavedTensor& tensor : g.tensors) {
    require_index(tensor.name, g.name_count, "the name");
  }
  for (const SavedNode& node : g.nodes) {
    require_index(node.op, g.ops.size(), "the op");
    require_index(node.scope, g.scopes.size() + 1, "the scope");
    require_index(node.file, g.texts.size(), "the text");
    require_index(node.function, g.texts.size(), "the text");
  }
  for (const SavedKernel& kernel : g.kernels) {
    require_index(kernel.op, g.ops.size(), "the op of a kernel");
    if (std::ranges::count(kernel.interface.bindings, Access{}, &KernelBinding::access) != 0) {
      throw_invalid_argument("The kernel '", kernel.source.name,
                             "' has a binding that is (0), neither read nor written.");
    }
  }
  for (const std::vector<SavedPort>* ports : {&g.inputs, &g.outputs}) {
    for (const SavedPort& port : *ports) {
      require_index(port.tensor, g.tensors.size(), "the tensor");
    }
  }
}

}  // namespace

std::vector<std::byte> encode_graph(const SavedGraph& graph) {
  check_indices(graph);
  ByteWriter writer;
  writer.append(std::as_bytes(std::span(kMagic)));
  writer.value(kGraphFileVersion);
  graph_fields(writer, graph, kGraphFileVersion);
  const std::string hash = hash_of(writer.bytes());
  if (writer.bytes().size() + hash.size() > kMaxGraphFileBytes) {
    throw_invalid_argument("A graph file has at most ", kMaxGraphFileBytes,
                           " bytes, but this one would have (", writer.bytes().size(),
                           "): the values of its inputs are in it.");
  }
  writer.append(std::as_bytes(std::span(hash)));
  return std::move(writer.bytes());
}

SavedGraph decode_graph(std::span<const std::byte> bytes) {
  std::uint32_t version = 0;
  if (bytes.size() < kMagic.size() + sizeof version + kHashBytes ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    throw_invalid_argument("It is no graph file: it does not begin with '", kMagic,
                           "', or is shorter (", bytes.size(), " bytes) than any.");
  }
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  if (version < kOldestGraphFileVersion || version > kGraphFileVersion) {
    throw_error(ErrorCode::unsupported, "It has version (", version,
                ") of the format, but this library reads versions ", kOldestGraphFileVersion,
                " to ", kGraphFileVersion, ".");
  }
  const auto content = bytes.first(bytes.size() - kHashBytes);
  const std::string hash = hash_of(content);
  if (!std::ranges::equal(bytes.last(kHashBytes), std::as_bytes(std::span(hash)))) {
    throw_invalid_argument("Its bytes are damaged: their hash is (", hash,
                           "), which is not the stored one.");
  }
  ByteSource source(content.subspan(kMagic.size() + sizeof version));
  SavedGraph graph;
  graph_fields(source, graph, version);
  if (source.left() != 0) {
    throw_invalid_argument("It has (", source.left(), ") bytes after its end.");
  }
  check_indices(graph);
  return graph;
}

}  // namespace reprise
