#include "framework/session/saved/graph_rebuilder.h"

#include <algorithm>
#include <set>

#include "framework/core/tensor_slab.h"
#include "framework/session/record/attribute_bytes.h"
#include "framework/session/saved/lasting_text.h"
#include "framework/session/saved/saved_kernels.h"
#include "framework/session/saved/saved_view.h"
#include "framework/session/state/extents.h"
#include "framework/session/state/state_bound.h"
#include "reprise/ops/op_named.h"

namespace reprise {
namespace {

bool same(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.strides.begin(), a.strides.begin() + a.shape.rank(), b.strides.begin());
}

void require_same(const TensorSpec& in_file, const TensorSpec& here, std::string_view what) {
  if (!same(in_file, here)) {
    throw_invalid_argument(std::string(what) + " is (" + to_string(here) + "), but " +
                           to_string(in_file) + " in the file, or lies otherwise in memory.");
  }
}

}  // namespace

GraphRebuilder::GraphRebuilder(ExecutorCore& core, const SavedGraph& saved,
                               const LoadOptions& options, const IterationRows& rows)
    : device_(core.device()),
      saved_(saved),
      options_(options),
      framework_(FrameworkTensor::all(core, options.state, rows)),
      capture_(saved.name, core.next_owner()) {
  owner_ = capture_.owner();
  state_ = index_of(options.state ? StorageOrigin::state : StorageOrigin::empty_state);
  for (const SavedPort& port : saved.inputs) {
    inputs_.emplace(port.tensor, &port);
  }
}

void GraphRebuilder::build() {
  require_extents();
  capture_.graph().extents = saved_.extents;
  add_names();
  find_ops();
  bind_callers();
  while (tensors_.size() < saved_.tensors.size()) {
    add_tensor(saved_.tensors[tensors_.size()]);
  }
  while (next_node_ < saved_.nodes.size()) {
    add_node();
  }
  finish_tensors();
  add_ports();
  require_iterations();
}

/// Those of tensors are among those of the graph.
void GraphRebuilder::require_extents() const {
  for (const SavedTensor& tensor : saved_.tensors) {
    const Shape& shape = tensor.spec.shape;
    const bool known =
        shape.fixed() || std::ranges::any_of(saved_.extents, [&](const GraphExtent& extent) {
          return extent.word == shape.extent_word() && extent.max == shape.dim(0);
        });
    if (!known) {
      throw_invalid_argument("The tensor " + to_string(tensor.spec) + " has the extent of word (" +
                             std::to_string(shape.extent_word()) +
                             "), which the graph does not have.");
    }
  }
}

void GraphRebuilder::add_names() {
  Names& names = capture_.graph().names;
  for (std::uint32_t i = 0; i < saved_.name_count; ++i) {
    if (i == 0 ? !saved_.texts[0].empty() : names.intern(saved_.texts[i]) != i) {
      throw_invalid_argument("The name (" + saved_.texts[i] +
                             ") is in the file twice, or in the wrong place.");
    }
  }
  for (std::uint32_t s = 1; s <= saved_.scopes.size(); ++s) {
    const SavedScope& scope = saved_.scopes[s - 1];
    if (names.scope(scope.outer, saved_.texts[scope.name], scope.index) != s) {
      throw_invalid_argument("The scope (" + names.path(scope.outer) + "/" +
                             saved_.texts[scope.name] + ") is in the file twice.");
    }
  }
}

const OpDef* GraphRebuilder::op_of(std::uint32_t op) {
  const auto kernel = std::ranges::find(saved_.kernels, op, &SavedKernel::op);
  if (kernel == saved_.kernels.end()) {
    return op_named(saved_.ops[op].name);
  }
  const OpDef& found = kernels_.emplace_back(loaded_kernel(device_, *kernel, options_)).op();
  return found.name == saved_.ops[op].name ? &found : nullptr;
}

void GraphRebuilder::find_ops() {
  for (const SavedOp& saved : saved_.ops) {
    const OpDef* op = op_of(static_cast<std::uint32_t>(ops_.size()));
    if (op == nullptr || schema_text(*op) != saved.schema) {
      throw Error(ErrorCode::unsupported,
                  "The op '" + saved.name + "' has (" + saved.schema + ") in the file, but " +
                      (op == nullptr ? "this library has no such op."
                                     : "this library's has: " + schema_text(*op) + "."));
    }
    ops_.push_back(op);
  }
}

/// Tells all that are missing at once.
void GraphRebuilder::bind_callers() {
  std::string missing;
  std::set<std::uint32_t> listed;  // names
  for (const SavedTensor& tensor : saved_.tensors) {
    if (tensor.origin == StorageOrigin::caller) {
      const auto it = options_.tensors.find(saved_.texts[tensor.name]);
      const bool given = it != options_.tensors.end() && it->second;
      if (!given && listed.insert(tensor.name).second) {
        missing += (missing.empty() ? "'" : ", '") + saved_.texts[tensor.name] + "' " +
                   to_string(tensor.spec);
      }
    }
  }
  if (!missing.empty()) {
    throw_invalid_argument("The graph needs tensors that were not given: (" + missing + ").");
  }
}

const Tensor& GraphRebuilder::tensor(std::uint32_t index) const {
  if (index >= tensors_.size()) {
    throw_invalid_argument("The tensor (" + std::to_string(index) +
                           ") is used before it is made; there are " +
                           std::to_string(tensors_.size()) + " by then.");
  }
  return tensors_[index];
}

void GraphRebuilder::add_tensor(const SavedTensor& t) {
  const auto index = static_cast<std::uint32_t>(tensors_.size());
  if (t.alias_of != kNoIndex) {
    add_view(t);
  } else if (t.origin != StorageOrigin::transient) {
    add_persistent(t);
  } else if (const auto port = inputs_.find(index); port != inputs_.end()) {
    add_input(*port->second);
  } else if (next_node_ < saved_.nodes.size()) {
    add_node();  // makes it, or is before the one that does
  } else {
    throw_invalid_argument("No op makes the tensor (" + std::to_string(index) + ").");
  }
}

void GraphRebuilder::add_input(const SavedPort& port) {
  const TensorSpec& spec = saved_.tensors[port.tensor].spec;
  require_same(spec, TensorSpec(spec.shape, spec.dtype), "The input '" + port.name + "'");
  if (!port.values.empty() || !spec.shape.fixed()) {  // else it was never given any
    require_values(port.name, spec, spec.dtype, port.values);
  }
  tensors_.push_back(capture_.add_input(port.name, spec));
}

void GraphRebuilder::add_view(const SavedTensor& t) {
  const TensorRef source(tensor(t.alias_of));
  if (t.origin != StorageOrigin::transient || t.offset < saved_.tensors[t.alias_of].offset) {
    throw_invalid_argument("A view begins before its source, or has memory of its own.");
  }
  const SavedViewAttributes a{t.spec, t.offset - saved_.tensors[t.alias_of].offset};
  current_scope_ = 0;
  Tensor view;
  const TensorRef inputs[] = {source};
  call({*this, saved_view_def, inputs, std::as_bytes(std::span(&a, 1)), {}}, {&view, 1});
  tensors_.push_back(std::move(view));
}

void GraphRebuilder::add_persistent(const SavedTensor& t) {
  const std::string& name = saved_.texts[t.name];
  Tensor given;
  if (t.origin == StorageOrigin::caller) {
    given = options_.tensors.find(name)->second;
  } else {
    const auto it = std::ranges::find_if(framework_, [&](const FrameworkTensor& known) {
      return known.origin == t.origin &&
             (known.origin != StorageOrigin::state_array || TensorRef(known.tensor)->name == name);
    });
    if (it == framework_.end()) {
      throw_invalid_argument("The tensor '" + name +
                             "' belongs to state or iterations that the graph lacks.");
    }
    given = it->tensor;
  }
  const TensorRef ref(given);
  if (ref->buffer == nullptr) {
    throw_invalid_argument("The tensor '" + name +
                           "' is a transient of a session; only persistent ones, made by a "
                           "Device, last.");
  }
  TensorSpec fixed = t.spec;  // with an extent: the first rows of memory for the bucket
  fixed.shape = fixed.shape.with_extent(Extent::kFixed);
  require_same(fixed, given.spec(), "The tensor '" + name + "'");
  ref->buffer->require_alive();
  // Of its own: one given under two names is two tensors of the graph.
  tensors_.push_back(persistent_tensor(ref->buffer, t.spec, ref->offset, name));
  if (capture_.index_of(tensors_.back()) + 1 != tensors_.size()) {
    throw_invalid_argument("The tensor '" + name + "' is not where the file says.");
  }
}

namespace {

void require_source(const CustomOp& kernel, const SavedNode& node) {
  if (CustomOp::header_of(node.attributes).hash != kernel.hash) {
    throw_invalid_argument("A call of the kernel '" + kernel.source.name +
                           "' names another source than the kernel's.");
  }
}

/// Optional ones may not be there.
std::size_t results_of(const SavedNode& node) {
  return node.results.size() - static_cast<std::size_t>(std::ranges::count(node.results, kNoIndex));
}

}  // namespace

std::vector<TensorSpec> GraphRebuilder::specs_of_results(const SavedNode& node) const {
  std::vector<TensorSpec> specs;
  for (const std::uint32_t result : node.results) {
    if (result >= saved_.tensors.size()) {
      throw_invalid_argument("A kernel makes the tensor (" + std::to_string(result) +
                             "), but the file has " + std::to_string(saved_.tensors.size()) + ".");
    }
    specs.push_back(saved_.tensors[result].spec);
  }
  return specs;
}

void GraphRebuilder::add_node() {
  const SavedNode& node = saved_.nodes[next_node_];
  const OpDef& op = *ops_[node.op];
  if (node.operands.size() != op.operands.size() || node.results.size() != op.results.size()) {
    throw_invalid_argument("Op " + std::to_string(next_node_) + " " + std::string(op.name) +
                           " has (" + std::to_string(node.operands.size()) + ") operands and (" +
                           std::to_string(node.results.size()) +
                           ") results, which are not those of its schema.");
  }
  require_attributes(op, node.attributes, fields());
  std::vector<TensorRef> inputs;
  for (const std::uint32_t operand : node.operands) {
    inputs.push_back(operand == kNoIndex ? TensorRef() : TensorRef(tensor(operand)));
  }
  current_scope_ = node.scope;
  std::vector<Tensor> results(results_of(node));
  const SourceLocation where{lasting_text(saved_.texts[node.file]),
                             lasting_text(saved_.texts[node.function]), node.line};
  const OpCall record{*this, op, inputs, node.attributes, where};
  if (const CustomOp* kernel = custom_op(op); kernel != nullptr) {
    require_source(*kernel, node);
    const std::vector<TensorSpec> specs = specs_of_results(node);
    call(CustomCall{record, specs}, results);
  } else {
    call(record, results);
  }
  std::ranges::move(results, std::back_inserter(tensors_));
  ++next_node_;
}

void GraphRebuilder::append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) {
  if (call.op.view) {
    results[0] = capture_.add_view(call, outputs);
    return;
  }
  const SavedNode& node = saved_.nodes[next_node_];
  if (outputs.count != results_of(node)) {
    throw_invalid_argument("Its results are (" + std::to_string(outputs.count) + "), but " +
                           std::to_string(results_of(node)) + " in the file.");
  }
  for (std::size_t i = 0; i < outputs.count; ++i) {
    if (node.results[i] != tensors_.size() + i || node.results[i] >= saved_.tensors.size()) {
      throw_invalid_argument("Its result is tensor (" + std::to_string(node.results[i]) +
                             ") in the file, but " + std::to_string(tensors_.size() + i) +
                             " in order.");
    }
    require_same(saved_.tensors[node.results[i]].spec, outputs.specs[i], "Its result");
  }
  std::uint32_t state = kNoIndex;
  if (call.op.reads_state()) {
    (void)tensor(state_);  // it is there by then
    state = capture_.graph().state_tensor = state_;
  }
  capture_.add_node(call, outputs, current_scope_, state, results);
}

std::uint32_t GraphRebuilder::index_of(StorageOrigin origin) const {
  const auto it = std::ranges::find(saved_.tensors, origin, &SavedTensor::origin);
  return it == saved_.tensors.end() ? kNoIndex
                                    : static_cast<std::uint32_t>(it - saved_.tensors.begin());
}

void GraphRebuilder::finish_tensors() {
  ComputeGraph& graph = capture_.graph();
  if (tensors_.size() != saved_.tensors.size()) {
    throw_invalid_argument("The ops make (" + std::to_string(tensors_.size()) +
                           ") tensors, but the file has " + std::to_string(saved_.tensors.size()) +
                           ".");
  }
  for (std::size_t t = 0; t < saved_.tensors.size(); ++t) {
    graph.tensors[t].role = saved_.tensors[t].role;
    graph.tensors[t].name = saved_.tensors[t].name;
    if (saved_.tensors[t].origin != StorageOrigin::transient) {
      graph.storages[graph.tensors[t].storage].origin = saved_.tensors[t].origin;
    }
  }
  graph.iteration_tensor = index_of(StorageOrigin::iteration);
  for (const SavedPort& port : saved_.inputs) {  // launches write there
    const GraphTensor& tensor = graph.tensors[port.tensor];
    if (!graph.storages[tensor.storage].input || tensor.alias_of != kNoIndex) {
      throw_invalid_argument("The input '" + port.name + "' is memory of something else.");
    }
  }
  for (const SavedPort& port : saved_.outputs) {
    const GraphTensor& tensor = graph.tensors[port.tensor];
    if (!tensor.spec.contiguous()) {
      throw_invalid_argument("The output '" + port.name + "' " + to_string(tensor.spec) +
                             " is a strided view.");
    }
    graph.storages[tensor.storage].output = true;
  }
}

/// In the order of the file, which that of the tensors need not be.
void GraphRebuilder::add_ports() {
  ComputeGraph& graph = capture_.graph();
  const auto ports = [&](const std::vector<SavedPort>& saved) {
    std::vector<Port> list;
    list.reserve(saved.size());
    for (const SavedPort& port : saved) {
      list.push_back({port.name, graph.tensors[port.tensor].spec, port.tensor});
    }
    return list;
  };
  graph.inputs = ports(saved_.inputs);
  graph.outputs = ports(saved_.outputs);
  graph.state_fields = saved_.state_fields;  // those of the block: they were compared
  graph.max_iterations = saved_.max_iterations;
}

/// The grids that steps read on the device, and what the host is told ran, come from nowhere else
/// than from one plan at the head of the graph.
void GraphRebuilder::require_iterations() const {
  const ComputeGraph& graph = capture_.graph();
  for (const StateGrowth& growth : growths_of(graph)) {
    if (growth.by.dynamic() && growth.by.word >= fields().size()) {
      throw_invalid_argument("An op adds word (" + std::to_string(growth.by.word) +
                             ") to a state of " + std::to_string(fields().size()) + " fields.");
    }
  }
  const bool iterated = graph.iteration_tensor != kNoIndex;
  if (iterated != (saved_.max_iterations > 1 || !saved_.extents.empty())) {
    throw_invalid_argument("The graph runs up to (" + std::to_string(saved_.max_iterations) +
                           ") iterations per launch, but " +
                           (iterated ? "counts them." : "does not count them."));
  }
  for (std::uint32_t n = 0; iterated && n < graph.nodes.size(); ++n) {
    const bool decides = std::ranges::any_of(graph.uses_of(graph.nodes[n]), [&](const Use& use) {
      return writes(use.access) &&
             graph.tensors[use.tensor].storage == graph.tensors[graph.iteration_tensor].storage;
    });
    if (decides != (n == 0) || (decides && graph.nodes[n].op->name != "plan")) {
      throw_invalid_argument(
          "Op " + std::to_string(n) + " " + std::string(graph.nodes[n].op->name) +
          " decides which iterations run, or none does; a plan at the head does.");
    }
  }
}

std::span<const StateFieldInfo> GraphRebuilder::fields() const {
  const std::size_t words = options_.state ? options_.state.layout().words() : 0;
  return std::span(saved_.state_fields).first(words);
}

Tensor GraphRebuilder::find_block() { return tensor(state_); }

Tensor GraphRebuilder::find_array(std::string_view array) {
  throw_invalid_argument("The file names state arrays by their tensors, not as (" +
                         std::string(array) + ").");
}

std::string GraphRebuilder::tensor_name(const TensorRecord& tensor) const {
  return capture_.tensor_name(tensor);
}

Extent GraphRebuilder::find_extent(std::string_view field) const {
  throw_invalid_argument("The file names extents by their words, not as (" + std::string(field) +
                         ").");
}

StateField GraphRebuilder::find_state(std::string_view field) const {
  throw_invalid_argument("The file names state fields by their words, not as (" +
                         std::string(field) + ").");
}

std::uint32_t GraphRebuilder::open_scope(std::uint32_t outer, std::string_view name,
                                         std::int32_t index) {
  return capture_.graph().names.scope(outer, name, index);
}

std::string GraphRebuilder::scope_path(std::uint32_t scope) const {
  return capture_.graph().names.path(scope);
}

}  // namespace reprise
