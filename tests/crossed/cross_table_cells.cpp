// The cells of the table that are not plain, and how each refusal is met.
#include <filesystem>

#include "reprise/ops/binary.h"
#include "reprise/ops/host_step.h"
#include "reprise/ops/views.h"
#include "reprise/session/executable_graph.h"
#include "reprise/session/lint.h"
#include "reprise/session/verify.h"
#include "tests/crossed/cross_table.h"

namespace reprise::crossed {
namespace {

Tensor on_host(GraphSession& s, const Tensor& x) {
  return host_step(s, "copy", {x}, {x.spec()}, [](HostStepCall& call) {
    std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
  })[0];
}

void twice(GraphSession& s, const Tensor& x) { s.output("y", add(s, x, x)); }

StateBlock counted(const GraphExecutor& executor) {
  return {executor.device(), StateLayout().carried("pos").host("rows", 2)};
}

std::filesystem::path nowhere() {
  return std::filesystem::temp_directory_path() / "reprise_cross_table" / "graph";
}

void extents_and_host_steps(GraphExecutor& executor) {
  const StateBlock state = counted(executor);
  auto s = executor.begin_recorded({.state = state, .extents = {{"rows", 4}}});
  (void)on_host(s, s.input("x", {s.extent("rows"), 4}, std::vector<float>(16)));
}

void iterations_and_host_steps(GraphExecutor& executor) {
  const StateBlock state = counted(executor);
  auto s = executor.begin_recorded({.state = state, .max_iterations = 2});
  s.output("y", on_host(s, s.input("x", {1, 4}, std::vector<float>(4))));
  (void)s.finish();
}

void iterations_and_swaps(GraphExecutor& executor) {
  ExecutableGraph graph(executor, [](GraphSession& s) { twice(s, s.input("x", {4})); },
                        {.state = StateLayout().carried("pos"), .max_iterations = 2});
  graph.create_handle({"x", {4}});
  graph.feed("x", "y", {.mode = FeedMode::swap});
  graph.set_iterations(2);
  (void)graph.run();
}

void iterations_and_direct(GraphExecutor& executor) {
  const StateBlock state = counted(executor);
  (void)executor.begin({.state = state, .max_iterations = 2});
}

void passes_and_direct(GraphExecutor& executor) {
  auto s = executor.begin();
  twice(s, s.input("x", {4}, std::vector<float>(4)));
  (void)s.finish({.passes = {.fuse = true}});
}

void host_steps_and_files(GraphExecutor& executor) {
  auto s = executor.begin_recorded();
  s.output("y", on_host(s, s.input("x", {4}, std::vector<float>(4))));
  s.finish().graph.save(nowhere());
}

void direct_and_files(GraphExecutor& executor) {
  auto s = executor.begin();
  twice(s, s.input("x", {4}, std::vector<float>(4)));
  s.finish().graph.save(nowhere());
}

ExpertSetup experts() {
  const ExpertStore store(2);
  store.add("layer", "up", {2, 4, 4}, std::vector<float>(32));
  return {.store = store, .options = {.budget_bytes = 64}};  // one of two
}

void call_experts(GraphSession& s) {
  const Tensor row = reshape(s, s.input("x", {1, 4}), {1, 1, 4});
  const Tensor ids = s.input("ids", {1, 1}, DType::i32);
  s.output("y", s.experts("layer", ids, [&](const PlacedExperts& placed) {
    return placed.matmul(s, row, "up");
  }));
}

void experts_and_files(GraphExecutor& executor) {
  ExecutableGraph graph(executor, call_experts, {.experts = experts()});
  graph.captured().save(nowhere());
}

void save_fed(GraphExecutor& executor, FeedMode mode) {
  ExecutableGraph graph(executor, [](GraphSession& s) { twice(s, s.input("x", {4})); });
  graph.create_handle({.name = "x", .shape = {4}});
  graph.feed("x", "y", {.mode = mode});
  graph.captured().save(nowhere());
}

void swaps_and_files(GraphExecutor& executor) { save_fed(executor, FeedMode::swap); }

void copies_and_files(GraphExecutor& executor) { save_fed(executor, FeedMode::copy); }

}  // namespace

const std::vector<Cell>& cells() {
  using enum Meeting;
  static constexpr const char* kOfExecutables =
      "Handles, feeds and forks are of executable graphs; a session has none";
  static const std::vector<Cell> all{
      {"extents", "host steps", refused, "takes no extent of the state", extents_and_host_steps},
      {"iterations", "host steps", refused, "the device alone knows which of them run",
       iterations_and_host_steps},
      {"iterations", "feeds that swap", refused, "cannot swap: a run runs its pass up to",
       iterations_and_swaps},
      {"iterations", "direct sessions", refused,
       "only recorded sessions with a state block have more than 1", iterations_and_direct},
      {"passes", "direct sessions", refused, "which only recorded sessions have",
       passes_and_direct},
      {"host steps", "saved and loaded", refused, "its op (host_step) is not one of the library's",
       host_steps_and_files},
      {"direct sessions", "saved and loaded", refused,
       "only finish() of a recorded session makes one", direct_and_files},
      {"experts on a budget", "saved and loaded", refused,
       "the host moves its experts, and no file can hold that", experts_and_files},
      {"experts on a budget", "lint", works,
       "ExpertSessions.AreCleanForLintWhichFindsWhatElseIsBaked"},
      {"experts on a budget", "verify", works, "ExpertSessions.AreTheSameBitsForVerify"},
      {"experts on a budget", "direct sessions", works,
       "ExpertSessions.GiveTheBitsOfADeviceThatHasAll"},
      {"feeds that swap", "feeds that copy", works, "FedOutputs.TwoHandlesExchangeTheirValues"},
      {"feeds that swap", "saved and loaded", refused, "goes into the memory of", swaps_and_files},
      {"feeds that copy", "saved and loaded", refused, "goes into the memory of", copies_and_files},
      {"forks", "saved and loaded", none,
       "A file holds one recording; forks are of executable graphs"},
      {"feeds that swap", "lint", none, kOfExecutables},
      {"feeds that copy", "lint", none, kOfExecutables},
      {"forks", "lint", none, kOfExecutables},
      {"feeds that swap", "verify", none, kOfExecutables},
      {"feeds that copy", "verify", none, kOfExecutables},
      {"forks", "verify", none, kOfExecutables},
      {"feeds that swap", "direct sessions", none, kOfExecutables},
      {"feeds that copy", "direct sessions", none, kOfExecutables},
      {"forks", "direct sessions", none, kOfExecutables},
  };
  return all;
}

}  // namespace reprise::crossed
