#include "framework/session/executable/executable_plans.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "framework/core/known_names.h"
#include "framework/ops/fusions.h"
#include "framework/session/executable/route_rings.h"
#include "framework/session/record/expert_tensors.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/record/plan_pass.h"

namespace reprise {
namespace {

std::string key_of(const ExecutablePlans::Use& use) {
  std::string key = std::to_string(use.bucket);
  const auto add = [&](const char* kind, const std::string& name) {
    key += kind + std::to_string(name.size()) + ' ' + name;  // whatever a name has in it
  };
  for (const NamedTensor& handle : use.handles) {
    add(" handle ", handle.name);
  }
  for (const ExecutablePlans::Target& target : use.targets) {
    // A plan finds memory by its name, so outputs that feed other handles need another one.
    const auto memory = std::ranges::find_if(use.own, [&](const NamedTensor& own) {
      return TensorRef(own.tensor)->buffer == TensorRef(target.tensor)->buffer;
    });
    add(" output ", target.output);
    add(" into ", memory == use.own.end() ? std::string() : memory->name);
    key += ' ' + std::to_string(static_cast<int>(target.mode));
  }
  for (const NamedTensor& tensor : use.experts) {
    add(" experts ", tensor.name);
    key += ' ' + to_string(tensor.tensor.spec());
  }
  if (!use.rings.empty()) {
    key += " rings of " + to_string(use.rings[0].tensor.spec());
  }
  return key;
}

}  // namespace

ExecutablePlans::ExecutablePlans(std::shared_ptr<ExecutorCore> core, RecordFunction pass,
                                 ExecutableOptions options)
    : core_(std::move(core)),
      pass_(std::move(pass)),
      options_(std::move(options)),
      what_("The executable '" + options_.name + "'"),
      mutex_("The pass of the executable '" + options_.name + "' uses its own executable.") {
  check_options();
  Use use;
  use.bucket = buckets().back();
  use.experts = use.own = unbacked_experts(options_.experts);
  if (options_.state.words() > 0) {
    use.state = StateBlock(core_->device(), options_.state);
  }
  const std::lock_guard lock(mutex_);
  largest_ = make_plan(use);
  plans_.emplace(key_of(use), largest_);
}

void ExecutablePlans::check_options() {
  if (!pass_) {
    throw_invalid_argument(what_, " has no pass: the function is empty.");
  }
  if (options_.extent.empty() != options_.buckets.empty()) {
    throw_invalid_argument(
        what_,
        (options_.extent.empty() ? " has buckets, but no extent that they are of."
                                 : " has the extent '" + options_.extent + "', but no buckets."));
  }
  for (std::size_t i = 0; i < options_.buckets.size(); ++i) {
    if (options_.buckets[i] < 1 || (i > 0 && options_.buckets[i] <= options_.buckets[i - 1])) {
      throw_invalid_argument(what_, " has a bucket of (", options_.buckets[i],
                             ") rows; buckets are at least 1, in ascending order.");
    }
  }
  if (!options_.extent.empty() && options_.state.find(options_.extent) == nullptr) {
    options_.state.host(options_.extent, 1);
  }
  if (options_.experts.store) {
    const bool on_the_cpu = options_.experts.options.misses == ExpertMiss::cpu &&
                            options_.experts.cells() < options_.experts.store.experts();
    if (on_the_cpu && (!options_.extent.empty() || options_.max_iterations > 1)) {
      throw_error(
          ErrorCode::unsupported, what_, " has ",
          (options_.extent.empty() ? "(" + std::to_string(options_.max_iterations) + ") iterations"
                                   : "the extent (" + options_.extent + ")"),
          " and misses of experts that the CPU computes, in host steps; upload them, or "
          "give every expert a cell.");
    }
  }
  if (may_keep_routes()) {
    options_.state.host(kRouteRowField);
  }
  if (!options_.params) {
    options_.params = ParamStore(core_->device());
  }
}

std::uint32_t ExecutablePlans::input_index(std::string_view name) const {
  return index_of(inputs(), what_, "input", name);
}

const Port& ExecutablePlans::output(std::string_view name) const {
  return outputs()[index_of(outputs(), what_, "output", name)];
}

std::size_t ExecutablePlans::recordings() const {
  const std::lock_guard lock(mutex_);
  return recordings_;
}

void ExecutablePlans::require_params() const {
  if (options_.params.unset() == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const ParamStore::Param& param : options_.params.params()) {
    if (!param.set && param_names_.contains(param.name)) {
      throw_error(ErrorCode::missing_input, "The param '", param.name, "' ", to_string(param.spec),
                  " of the executable '", options_.name, "' was never set.");
    }
  }
}

void ExecutablePlans::place(GraphSession& session, RecordedSession& recorded,
                            const Target& target) const {
  if (target.mode != FeedMode::in_place) {
    recorded.place_output(session, target.output, target.tensor, target.mode == FeedMode::copy);
    return;
  }
  const TensorRef handle(target.tensor);
  const TensorRef written(recorded.output_tensor(target.output));
  if (written->buffer != handle->buffer || written->offset != handle->offset) {
    throw_invalid_argument(
        "The output '", target.output, "' of the executable '", options_.name,
        "' feeds the handle (", handle->name,
        ") in place, but the pass puts it into other memory; write the handle's tensor "
        "itself, as set_rows does, or feed it by copy or swap.");
  }
}

void ExecutablePlans::require_same(const Use& use, const PassPlan& plan) const {
  const std::int64_t most = buckets().back();
  const std::string when = use.bucket == most ? "when it is recorded again"
                                              : "in its bucket " + std::to_string(use.bucket);
  const auto require = [&](const char* kind, const auto& largest, const auto& here, auto text) {
    std::set<std::string> of_largest, of_this;
    std::ranges::transform(largest, std::inserter(of_largest, of_largest.end()), text);
    std::ranges::transform(here, std::inserter(of_this, of_this.end()), text);
    if (of_largest != of_this) {
      throw_invalid_argument(what_, " had the ", kind, " (", names_of(of_largest), "), but ", when,
                             " (", names_of(of_this), "); a pass has the same each time.");
    }
  };
  const auto values = [&](const std::vector<Port>& ports) {
    std::vector<Port> list;  // of runs
    std::ranges::copy_if(ports, std::back_inserter(list), [&](const Port& port) {
      return index_named(use.handles, port.name, &NamedTensor::name) == kNoIndex;
    });
    return list;
  };
  require("inputs", values(inputs()), values(plan.graph().inputs), [&](const Port& port) {
    TensorSpec spec = port.spec;
    if (const std::uint32_t word = spec.shape.extent_word(); word != Extent::kFixed) {
      spec.shape = spec.shape.with_front(most).with_extent(word);
    }
    return port.name + ' ' + to_string(spec);
  });
  require("layers of experts", expert_calls(), plan.expert_calls, std::mem_fn(&ExpertCall::layer));
  require("routers", routers(), plan.routers, std::mem_fn(&RouterCall::name));
}

std::shared_ptr<const PassPlan> ExecutablePlans::make_plan(const Use& use) {
  SessionOptions session{
      .name = options_.name, .state = use.state, .max_iterations = options_.max_iterations};
  if (use.bucket > 0) {
    session.extents = {{options_.extent, use.bucket}};
  }
  session.params = options_.params;
  session.tensors = use.handles;
  session.tensors.insert(session.tensors.end(), use.experts.begin(), use.experts.end());
  session.experts = options_.experts;
  auto recording = std::make_unique<RecordedSession>(
      core_, std::move(session),
      Session::Purpose{.inputs = Session::InputValues::by_launches,
                       .notes_routers = may_keep_routes()});
  RecordedSession& recorded = *recording;
  GraphSession door(std::move(recording));
  pass_(door);
  keep_routes(door, recorded.routers(), use.rings);
  door.in_session("output", [&](Session& /*inner*/) {
    for (const Target& target : use.targets) {
      if (target.mode == FeedMode::copy) {
        recorded.copy_outputs_of(door, target.tensor);
      }
    }
    for (const Target& target : use.targets) {
      place(door, recorded, target);
    }
  });
  for (const NamedTensor& own : use.own) {
    recorded.builder().set_origin(own.tensor, StorageOrigin::own, own.name);
  }
  auto plan = std::make_shared<const PassPlan>(
      plan_session(door, {.passes = options_.passes, .fusions = fusion_rules()}, "compiled"));
  if (largest_ != nullptr) {
    require_same(use, *plan);
  }
  ++recordings_;
  param_names_.insert(recorded.param_names().begin(), recorded.param_names().end());
  return plan;
}

std::shared_ptr<const PassPlan> ExecutablePlans::plan_for(const Use& use) {
  const std::lock_guard lock(mutex_);
  if (!use.shares_plan) {
    return make_plan(use);
  }
  std::shared_ptr<const PassPlan>& plan = plans_[key_of(use)];
  if (plan == nullptr) {
    plan = make_plan(use);
  }
  return plan;
}

}  // namespace reprise
