// GraphSession::experts.
#include <algorithm>

#include "framework/core/known_names.h"
#include "framework/session/experts/expert_residency.h"
#include "framework/session/record/expert_tensors.h"
#include "framework/session/record/repeated_calls.h"
#include "framework/session/record/session.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/expert_check.h"
#include "reprise/ops/host_step.h"
#include "reprise/ops/matmul_experts.h"

namespace reprise {
namespace {

/// `own`: of the session; null: the graph's that runs.
ExpertResidency& residency_of(const HostStepCall& call, const std::shared_ptr<HostContext>& own) {
  auto* residency = dynamic_cast<ExpertResidency*>(own == nullptr ? call.context() : own.get());
  if (residency == nullptr) {
    throw_invalid_argument("The host step '", call.name(),
                           "' moves experts of an executable graph, but runs without one.");
  }
  return *residency;
}

}  // namespace

/// How the experts of a layer are recorded, so that where their weights are never changes the
/// graph: products look it up in a table.
class ExpertRecording {
 public:
  ExpertRecording(GraphSession& session, std::string_view layer, const Tensor& ids)
      : session_(session),
        setup_(session.inner().options().experts),
        layer_(setup_.store.layer(layer)),
        layer_index_(static_cast<std::size_t>(&layer_ - setup_.store.layers().data())),
        ids_(ids),
        cells_(setup_.cells()) {
    const TensorRef ref(ids);
    if (!ref || ref.dtype() != DType::i32 || ref.shape().rank() != 2 || !ref.spec().contiguous()) {
      throw_invalid_argument("The experts of the layer '", layer_.name,
                             "' take ids that are contiguous i32 [rows, used], but got (",
                             (ref ? to_string(ref.spec()) : std::string("none")), ").");
    }
    for (const ExpertCall& call : session.inner().expert_calls()) {
      if (call.layer == layer_.name) {
        throw_invalid_argument("The pass asks for the experts of the layer '", layer_.name,
                               "' twice; give the second call a layer of its own.");
      }
    }
    session.inner().expert_calls().push_back({.layer = layer_.name,
                                              .rows = ids.shape().dim(0),
                                              .used = ids.shape().dim(1),
                                              .counts_rows = !ids.shape().fixed()});
    session.inner().name_router(layer_.name, ids);
  }

  Tensor record(const ExpertFunction& f) {
    const bool some = may_miss();
    if (some && setup_.options.misses == ExpertMiss::cpu) {
      return record_with_cpu(f);
    }
    // Each round serves as many experts as there are cells, until all that `ids` may name are.
    const std::int64_t named = std::min(setup_.store.experts(), ids_.shape().elements());
    const std::int64_t rounds = some ? (named + cells_ - 1) / cells_ : 1;
    Tensor result;
    for (std::int64_t round = 0; round < rounds; ++round) {
      before_ = std::exchange(products_, {});
      table_ = table(round);
      result = f(PlacedExperts(*this));
      if (round > 0 && products_.size() != before_.size()) {
        throw_invalid_argument("The experts of the layer '", layer_.name, "' made (",
                               products_.size(), ") products, but ", before_.size(),
                               " in the round before.");
      }
    }
    return result;
  }

  Tensor product(const Site& site, const Tensor& x, std::string_view name) {
    const auto it = std::ranges::find(layer_.projections, name, &ExpertStore::Projection::name);
    if (it == layer_.projections.end()) {
      throw_unknown_name("The layer '" + layer_.name + "'", "projection", name,
                         names_of(layer_.projections, &ExpertStore::Projection::name));
    }
    const std::size_t index = products_.size();
    const Tensor missing = index < before_.size() ? before_[index] : Tensor();
    products_.push_back(matmul_experts(site, x, bound(expert_cells_name(layer_.name, name)), ids_,
                                       table_, missing));
    return products_.back();
  }

 private:
  bool may_miss() const { return cells_ < setup_.store.experts() && ids_.shape().elements() > 0; }

  Tensor table(std::int64_t round) {
    if (!may_miss() || setup_.options.misses == ExpertMiss::cpu) {
      return bound(expert_table_name(layer_.name));
    }
    const bool stops = session_.inner().stops_at_misses();
    const auto place = [layer = layer_index_, round, stops,
                        own = session_.inner().own_experts()](HostStepCall& call) {
      residency_of(call, own).place({.layer = layer,
                                     .round = round,
                                     .rows = call.input_spec(0).shape.dim(0),
                                     .ids = call.input<std::int32_t>(0),
                                     .stopped = stops},
                                    call.output<std::int32_t>(0));
    };
    if (stops) {
      return check(round, place);
    }
    Tensor placed = host_step(session_, "place experts of " + layer_.name, {ids_},
                              {TensorSpec({setup_.store.experts()}, DType::i32)}, place)[0];
    ExpertCall& of = session_.inner().expert_calls().back();
    of.host_steps.push_back(last_node());
    of.moves = true;
    return placed;
  }

  /// A stop of the pass, where `place` serves the round.
  Tensor check(std::int64_t round, HostFunction place) {
    Session& session = session_.inner();
    std::vector<ExpertCall>& calls = session.expert_calls();
    std::size_t number = 1;
    for (const ExpertCall& call : calls) {
      number += call.stops.size();
    }
    const bool first = round == 0;
    const Tensor cells = first ? bound(expert_table_name(layer_.name)) : table_;
    Tensor placed = expert_check(session_, ids_, cells, session.iteration(),
                                 bound(expert_uses_name(layer_.name)),
                                 static_cast<std::int32_t>(number), first);
    session.builder().functions().emplace(last_node(), std::move(place));
    calls.back().stops.push_back(last_node());
    calls.back().moves = true;
    return placed;
  }

  /// One host step behind all of it, which computes the rows of missing experts.
  Tensor record_with_cpu(const ExpertFunction& f) {
    const auto calls = std::make_shared<RepeatedCalls>();
    table_ = table(0);
    calls->give(ids_);
    calls->give(table_);
    for (const ExpertStore::Projection& projection : layer_.projections) {
      calls->give(bound(expert_cells_name(layer_.name, projection.name)));
    }
    const std::size_t known = calls->given().size();
    Tensor result;
    {
      const Session::HeardCalls heard(session_.inner(), *calls);
      result = f(PlacedExperts(*this));
      if (!result || !calls->makes(result)) {
        return result;
      }
      const Shape &shape = result.shape(), &rows = ids_.shape();
      if (shape.rank() < 2 || shape.dim(0) != rows.dim(0) || shape.dim(1) != rows.dim(1)) {
        throw_error(ErrorCode::shape_mismatch, "The experts of the layer '", layer_.name,
                    "' give [", rows.dim(0), ", ", rows.dim(1), ", ..], but got (",
                    to_string(result.spec()), ").");
      }
      if (!result.spec().contiguous()) {
        result = copy(session_, result);
      }
    }
    std::vector<Tensor> read = calls->given();
    read.erase(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(known));
    for (Tensor& tensor : read) {
      tensor = tensor.spec().contiguous() ? tensor : copy(session_, tensor);
    }
    calls->end(result);
    const auto compute = [layer = layer_index_, calls,
                          own = session_.inner().own_experts()](HostStepCall& call) {
      residency_of(call, own).compute_misses(layer, *calls, call);
    };
    std::vector<TensorRef> inputs{ids_};
    inputs.insert(inputs.end(), read.begin(), read.end());
    (void)host_step(session_, "missing experts of " + layer_.name, inputs, {}, compute, result);
    session_.inner().expert_calls().back().host_steps.push_back(last_node());
    return result;
  }

  /// The node that was recorded last.
  std::uint32_t last_node() const {
    return static_cast<std::uint32_t>(session_.inner().builder().graph().nodes.size() - 1);
  }

  Tensor bound(const std::string& name) const {
    const std::vector<NamedTensor>& tensors = session_.inner().options().tensors;
    const auto it = std::ranges::find(tensors, name, &NamedTensor::name);
    return it == tensors.end() ? Tensor() : it->tensor;
  }

  GraphSession& session_;
  const ExpertSetup& setup_;
  const ExpertStore::Layer& layer_;
  std::size_t layer_index_;
  const Tensor& ids_;
  std::int64_t cells_;
  Tensor table_;
  std::vector<Tensor> products_, before_;  // of this round, of the one before
};

Tensor PlacedExperts::matmul(const Site& site, const Tensor& x, std::string_view projection) const {
  return recording_->product(site, x, projection);
}

Tensor GraphSession::experts(std::string_view layer, const Tensor& ids, const ExpertFunction& f,
                             SourceLocation where) {
  const bool usable = session_->has_experts();
  std::optional<ExpertRecording> recording;
  in_context("experts", where, [&] {
    if (!usable) {
      throw_invalid_argument(
          "The session has no experts (", layer,
          "): give it some with SessionOptions::experts, or an ExecutableGraph with "
          "ExecutableOptions::experts.");
    }
    recording.emplace(*this, layer, ids);
  });
  return recording->record(f);
}

}  // namespace reprise
