#include "framework/session/saved/graph_rebuilder.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "framework/core/tensor_slab.h"
#include "framework/session/record/attribute_bytes.h"
#include "framework/session/replay/framework_tensors.h"
#include "framework/session/saved/saved_kernels.h"
#include "framework/session/saved/saved_view.h"
#include "framework/session/state/extents.h"
#include "reprise/core/recorder.h"
#include "reprise/ops/op_named.h"

namespace reprise {
namespace {

bool same(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.strides.begin(), a.strides.begin() + a.shape.rank(), b.strides.begin());
}

void require_same(const TensorSpec& in_file, const TensorSpec& here, std::string_view what) {
  if (!same(in_file, here)) {
    throw_invalid_argument(what, " is (", to_string(here), "), but ", to_string(in_file),
                           " in the file, or lies otherwise in memory.");
  }
}

void require_source(const CustomOp& kernel, const SavedNode& node) {
  if (CustomOp::header_of(node.attributes).hash != kernel.hash) {
    throw_invalid_argument("A call of the kernel '", kernel.source.name,
                           "' names another source than the kernel's.");
  }
}

/// Lives as long as the program, as the file names of compiled code do: the same pointer for the
/// same text.
const char* lasting_text(const std::string& text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;  // nodes stay where they are
  const std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

/// Optional ones may not be there.
std::size_t results_of(const SavedNode& node) {
  return node.results.size() - static_cast<std::size_t>(std::ranges::count(node.results, kNoIndex));
}

/// Every op passes the schema and shape checks that a session makes, and its results must be those
/// of the file.
class GraphRebuilder final : public Recorder {
 public:
  GraphRebuilder(GraphCapture& capture, ExecutorCore& core, const SavedGraph& saved,
                 const LoadOptions& options, const IterationRows& rows)
      : device_(core.device()),
        saved_(saved),
        options_(options),
        framework_(FrameworkTensor::all(core, options.state, rows)),
        capture_(capture) {
    owner_ = capture_.owner();
    state_ = index_of(options.state ? StorageOrigin::state : StorageOrigin::empty_state);
    for (const SavedPort& port : saved.inputs) {
      inputs_.emplace(port.tensor, &port);
    }
  }

  void build() {
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
  }

  std::string tensor_name(const TensorRecord& tensor) const override {
    return capture_.tensor_name(tensor);
  }

 private:
  void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) override {
    if (call.op.view) {
      results[0] = capture_.add_view(call, outputs);
      return;
    }
    const SavedNode& node = saved_.nodes[next_node_];
    if (outputs.count != results_of(node)) {
      throw_invalid_argument("Its results are (", outputs.count, "), but ", results_of(node),
                             " in the file.");
    }
    for (std::size_t i = 0; i < outputs.count; ++i) {
      if (node.results[i] != tensors_.size() + i || node.results[i] >= saved_.tensors.size()) {
        throw_invalid_argument("Its result is tensor (", node.results[i], ") in the file, but ",
                               tensors_.size() + i, " in order.");
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

  void require_open() const override {}
  std::uint32_t open_scope(std::uint32_t outer, std::string_view name,
                           std::int32_t index) override {
    return capture_.graph().names.scope(outer, name, index);
  }
  std::string scope_path(std::uint32_t scope) const override {
    return capture_.graph().names.path(scope);
  }
  std::string_view session_name() const override { return saved_.name; }
  std::uint32_t op_count() const override { return next_node_; }

  void add_names() {
    Names& names = capture_.graph().names;
    for (std::uint32_t i = 0; i < saved_.name_count; ++i) {
      if (i == 0 ? !saved_.texts[0].empty() : names.intern(saved_.texts[i]) != i) {
        throw_invalid_argument("The name (", saved_.texts[i],
                               ") is in the file twice, or in the wrong place.");
      }
    }
    for (std::uint32_t s = 1; s <= saved_.scopes.size(); ++s) {
      const SavedScope& scope = saved_.scopes[s - 1];
      if (names.scope(scope.outer, saved_.texts[scope.name], scope.index) != s) {
        throw_invalid_argument("The scope (", names.path(scope.outer), "/",
                               saved_.texts[scope.name], ") is in the file twice.");
      }
    }
  }

  const OpDef* op_of(std::uint32_t op) {
    const auto kernel = std::ranges::find(saved_.kernels, op, &SavedKernel::op);
    if (kernel == saved_.kernels.end()) {
      return op_named(saved_.ops[op].name);
    }
    const OpDef& found = kernels_.emplace_back(loaded_kernel(device_, *kernel, options_)).op();
    return found.name == saved_.ops[op].name ? &found : nullptr;
  }

  void find_ops() {
    for (const SavedOp& saved : saved_.ops) {
      const OpDef* op = op_of(static_cast<std::uint32_t>(ops_.size()));
      if (op == nullptr || schema_text(*op) != saved.schema) {
        throw_error(ErrorCode::unsupported, "The op '", saved.name, "' has (", saved.schema,
                    ") in the file, but ",
                    (op == nullptr ? "this library has no such op."
                                   : "this library's has: " + schema_text(*op) + "."));
      }
      ops_.push_back(op);
    }
  }

  /// Tells all that are missing at once.
  void bind_callers() {
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
      throw_invalid_argument("The graph needs tensors that were not given: (", missing, ").");
    }
  }

  const Tensor& tensor(std::uint32_t index) const {
    if (index >= tensors_.size()) {
      throw_invalid_argument("The tensor (", index, ") is used before it is made; there are ",
                             tensors_.size(), " by then.");
    }
    return tensors_[index];
  }

  void add_tensor(const SavedTensor& t) {
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
      throw_invalid_argument("No op makes the tensor (", index, ").");
    }
  }

  void add_input(const SavedPort& port) {
    const TensorSpec& spec = saved_.tensors[port.tensor].spec;
    require_same(spec, TensorSpec(spec.shape, spec.dtype), "The input '" + port.name + "'");
    if (!port.values.empty() || !spec.shape.fixed()) {  // else it was never given any
      require_values(port.name, spec, spec.dtype, port.values);
    }
    tensors_.push_back(capture_.add_input(port.name, spec));
  }

  void add_view(const SavedTensor& t) {
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

  void add_persistent(const SavedTensor& t) {
    const std::string& name = saved_.texts[t.name];
    Tensor given;
    if (t.origin == StorageOrigin::caller) {
      given = options_.tensors.find(name)->second;
    } else {
      const auto it = std::ranges::find_if(framework_, [&](const FrameworkTensor& known) {
        return known.origin == t.origin && (known.origin != StorageOrigin::state_array ||
                                            TensorRef(known.tensor)->name == name);
      });
      if (it == framework_.end()) {
        throw_invalid_argument("The tensor '", name,
                               "' belongs to state or iterations that the graph lacks.");
      }
      given = it->tensor;
    }
    const TensorRef ref(given);
    if (ref->buffer == nullptr) {
      throw_invalid_argument("The tensor '", name,
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
      throw_invalid_argument("The tensor '", name, "' is not where the file says.");
    }
  }

  /// Those that the file says: kernels have no rule for them.
  std::vector<TensorSpec> specs_of_results(const SavedNode& node) const {
    std::vector<TensorSpec> specs;
    for (const std::uint32_t result : node.results) {
      if (result >= saved_.tensors.size()) {
        throw_invalid_argument("A kernel makes the tensor (", result, "), but the file has ",
                               saved_.tensors.size(), ".");
      }
      specs.push_back(saved_.tensors[result].spec);
    }
    return specs;
  }

  void add_node() {
    const SavedNode& node = saved_.nodes[next_node_];
    const OpDef& op = *ops_[node.op];
    if (node.operands.size() != op.operands.size() || node.results.size() != op.results.size()) {
      throw_invalid_argument("Op ", next_node_, " ", op.name, " has (", node.operands.size(),
                             ") operands and (", node.results.size(),
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

  void finish_tensors() {
    ComputeGraph& graph = capture_.graph();
    if (tensors_.size() != saved_.tensors.size()) {
      throw_invalid_argument("The ops make (", tensors_.size(), ") tensors, but the file has ",
                             saved_.tensors.size(), ".");
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
        throw_invalid_argument("The input '", port.name, "' is memory of something else.");
      }
    }
    for (const SavedPort& port : saved_.outputs) {
      const GraphTensor& tensor = graph.tensors[port.tensor];
      if (!tensor.spec.contiguous()) {
        throw_invalid_argument("The output '", port.name, "' ", to_string(tensor.spec),
                               " is a strided view.");
      }
      graph.storages[tensor.storage].output = true;
    }
  }

  /// In the order of the file, which that of the tensors need not be.
  void add_ports() {
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

  /// Those of the block, without arrays.
  std::span<const StateFieldInfo> fields() const {
    const std::size_t words = options_.state ? options_.state.layout().words() : 0;
    return std::span(saved_.state_fields).first(words);
  }

  /// kNoIndex: it is not in the file.
  std::uint32_t index_of(StorageOrigin origin) const {
    const auto it = std::ranges::find(saved_.tensors, origin, &SavedTensor::origin);
    return it == saved_.tensors.end() ? kNoIndex
                                      : static_cast<std::uint32_t>(it - saved_.tensors.begin());
  }

  const Device& device_;
  const SavedGraph& saved_;
  const LoadOptions& options_;
  std::vector<FrameworkTensor> framework_;
  GraphCapture& capture_;
  std::map<std::uint32_t, const SavedPort*> inputs_;  // by tensor
  std::uint32_t state_ = kNoIndex;                    // the tensor of the block, or in its place
  std::vector<CustomKernel> kernels_;
  std::vector<const OpDef*> ops_;  // by the file's number
  std::vector<Tensor> tensors_;    // by the graph's index
  std::uint32_t next_node_ = 0;
};

}  // namespace

void rebuild_graph(GraphCapture& capture, ExecutorCore& core, const SavedGraph& saved,
                   const LoadOptions& options, const IterationRows& rows) {
  GraphRebuilder(capture, core, saved, options, rows).build();
}

}  // namespace reprise
