#include "framework/graph/plan_fingerprint.h"

#include <algorithm>

#include "framework/core/op.h"
#include "framework/graph/hasher.h"

namespace reprise {
namespace {

void add_traits(std::vector<FingerprintPart>& parts, const DeviceTraits& t) {
  const auto flag = [](bool value) { return std::string(value ? "yes" : "no"); };
  parts.insert(parts.end(), {{"precision", std::string(name_of(t.precision))},
                             {"runs on the host", flag(t.runs_on_host)},
                             {"replays", flag(t.replays)},
                             {"kernel family", std::string(name_of(t.kernels))},
                             {"software driver", flag(t.cpu_type)},
                             {"overlapping dispatches", flag(t.overlaps_dispatches)},
                             {"subgroup size", std::to_string(t.subgroup_size)},
                             {"workgroup size", std::to_string(t.workgroup_size)},
                             {"largest workgroup", std::to_string(t.max_workgroup_size)},
                             {"shared memory", std::to_string(t.shared_bytes)},
                             {"binding alignment", std::to_string(t.binding_alignment)},
                             {"largest binding", std::to_string(t.max_binding_bytes)}});
}

void add_kernels(std::vector<FingerprintPart>& parts, const StepList& steps,
                 const std::function<std::string(const Kernel&)>& code_of) {
  std::vector<Kernel> seen;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Kernel& kernel = steps[s].kernel;
    if (steps[s].kind == StepKind::dispatch && std::ranges::count(seen, kernel) == 0) {
      seen.push_back(kernel);
      parts.emplace_back("kernel " + to_string(kernel), code_of(kernel));
    }
  }
}

std::string steps_hash(const StepList& steps) {
  Hasher hash;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Step& step = steps[s];
    hash.text(name_of(step.kind)).text(name_of(step.precision)).number(step.node);
    hash.text(step.op == nullptr ? "" : step.op->name).text(to_string(step.kernel));
    hash.number(step.indirect ? 1 : 0).number(step.extent);
    for (const Binding& b : steps.bindings(step)) {
      hash.number(b.pool).number(static_cast<std::uint64_t>(b.access));
      hash.number(static_cast<std::uint64_t>(b.type)).number(b.offset).number(b.bytes);
    }
    if (step.kind == StepKind::dispatch) {  // of calls: attributes, whose gaps may hold anything
      hash.bytes(steps.bytes(step));
    }
  }
  return hash.hex();
}

std::string grids_hash(const StepList& steps) {
  Hasher hash;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const std::uint32_t groups : steps[s].grid) {
      hash.number(groups);
    }
  }
  return hash.hex();
}

std::string places_hash(const ExecutionPlan& plan) {
  Hasher hash;
  for (const Place& p : plan.places) {
    hash.number(p.pool).number(p.offset).number(p.first_step).number(p.last_step);
  }
  for (const Pool& pool : plan.pools) {
    hash.text(pool.kind);
  }
  return hash.hex();
}

std::string barriers_hash(const ExecutionPlan& plan) {
  Hasher hash;
  for (const Barrier& b : plan.barriers) {
    hash.number(b.before_step).number(b.cause_src).number(static_cast<std::uint64_t>(b.kind));
    hash.number(b.range.buffer).number(b.range.begin).number(b.range.end);
  }
  return hash.hex();
}

}  // namespace

std::string_view library_version() { return REPRISE_VERSION; }

std::vector<FingerprintPart> fingerprint_of(
    const ExecutionPlan& plan, const DeviceTraits& traits,
    const std::function<std::string(const Kernel&)>& code_of) {
  std::vector<FingerprintPart> parts{{"library version", std::string(library_version())}};
  add_traits(parts, traits);
  add_kernels(parts, plan.steps, code_of);
  parts.insert(parts.end(), {{"number of steps", std::to_string(plan.steps.size())},
                             {"steps", steps_hash(plan.steps)},
                             {"grids", grids_hash(plan.steps)},
                             {"places", places_hash(plan)},
                             {"barriers", barriers_hash(plan)},
                             {"arena bytes", std::to_string(plan.arena_bytes)}});
  return parts;
}

std::optional<std::string> first_difference(const std::vector<FingerprintPart>& in_file,
                                            const std::vector<FingerprintPart>& here) {
  const auto [a, b] = std::ranges::mismatch(in_file, here);
  if (a == in_file.end() && b == here.end()) {
    return std::nullopt;
  }
  if (a == in_file.end() || b == here.end() || a->first != b->first) {
    return a == in_file.end() ? b->first + ": only here" : a->first + ": only in the file";
  }
  return a->first + ": (" + a->second + ") in the file, (" + b->second + ") here";
}

}  // namespace reprise
