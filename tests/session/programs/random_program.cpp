#include "tests/session/programs/random_program.h"

#include <algorithm>
#include <cstring>

namespace reprise::testing {
namespace {

std::string text_of(const Value& value) {
  std::string text = "[";
  for (const float number : value.numbers) {
    text += " " + std::to_string(number);
  }
  for (const std::int32_t number : value.integers) {
    text += " " + std::to_string(number);
  }
  return text + " ]";
}

}  // namespace

std::string Outcome::text() const {
  std::string text;
  for (const ErrorCode code : codes_) {
    text += (text.empty() ? "" : " or ") + std::string(name_of(code));
  }
  return text.empty() ? "success" : text;
}

RandomProgram::RandomProgram(Device device, bool replays, std::uint64_t seed)
    : device_(std::move(device)), replays_(replays), rng_(seed) {
  open_executor();
  for (int i = 0; i < 2; ++i) {
    states_.push_back(
        std::make_shared<State>(State{StateBlock(device_, StateModel::layout()), {}}));
    new_buffer();
  }
  for (std::size_t i = 0; i < kPasses; ++i) {
    passes_.push_back(random_pass(i));
    calls_.push_back(describe(passes_.back()));
  }
}

void RandomProgram::run(std::size_t calls) {
  struct Choice {
    std::uint64_t weight;
    std::function<void()> make;
  };
  // Graphs under keys meet only where many calls are about them.
  const std::uint64_t by_key = chance(2) ? 60 : 0;
  const Choice choices[] = {
      {1, [&] { open_executor(); }},
      {1, [&] { drop_executor(); }},
      {1, [&] { end_executor(); }},
      {14, [&] { begin(); }},
      {12, [&] { input(); }},
      {60, [&] { op(); }},
      {18, [&] { output(); }},
      {22, [&] { finish(); }},
      {6, [&] { submit(); }},
      {4, [&] { ask_session(); }},
      {3, [&] { discard(); }},
      {12, [&] { launch(); }},
      {12, [&] { launch_async(true); }},
      {6, [&] { launch_async(false); }},
      {8, [&] { set_input(); }},
      {12, [&] { set_state(); }},
      {8, [&] { read_graph(); }},
      {8, [&] { ask_graph(); }},
      {2, [&] { set_timing(); }},
      {6, [&] { rebind(); }},
      {1, [&] { move_graph(); }},
      {2, [&] { drop_graph(); }},
      {10, [&] { read_ticket(); }},
      {8, [&] { ask_ticket(); }},
      {6, [&] { release_ticket(); }},
      {2, [&] { move_ticket(); }},
      {by_key, [&] { begin_capture(); }},
      {by_key, [&] { end_capture(); }},
      {by_key, [&] { replay_by_key(); }},
      {by_key / 4, [&] { find_by_key(); }},
      {by_key / 5, [&] { reset_key(); }},
      {by_key / 10, [&] { reset_keys(); }},
      {by_key / 10, [&] { ask_counters(); }},
      {by_key / 6, [&] { new_cache(); }},
      {by_key / 20, [&] { drop_cache(); }},
      {3 * by_key, [&] { run_cache(); }},
      {by_key / 3, [&] { change_pass(); }},
      {4, [&] { new_buffer(); }},
      {10, [&] { read_buffer(); }},
      {5, [&] { write_buffer(); }},
      {3 + by_key / 10, [&] { free_buffer(); }},
      {4, [&] { grow_buffer(); }},
      {1, [&] { drop_tensor(); }},
  };
  std::uint64_t sum = 0;
  for (const Choice& choice : choices) {
    sum += choice.weight;
  }
  const std::size_t first = calls_.size();
  while (calls_.size() < first + calls) {
    std::uint64_t ticket = number(0, sum - 1);
    const Choice* choice = choices;
    while (ticket >= choice->weight) {
      ticket -= (choice++)->weight;
    }
    choice->make();
  }
  while (!tensors_.empty() && chance(2)) {
    read_buffer();
  }
}

Value RandomProgram::random_rows(std::int64_t rows) {
  Value value;
  for (std::int64_t i = 0; i < rows * kColumns; ++i) {
    value.numbers.push_back(static_cast<float>(number(0, 4)));
  }
  return value;
}

bool RandomProgram::call(const std::string& text, const Outcome& outcome,
                         const std::function<void()>& f) {
  calls_.push_back(text);
  std::string kind = text.substr(0, text.find('('));  // "graph3.launch" is "graph.launch"
  kind.erase(0, kind.find("= ") == std::string::npos ? 0 : kind.find("= ") + 2);
  std::erase_if(kind, [](char c) { return c == '\'' || (c >= '0' && c <= '9'); });
  try {
    f();
  } catch (const Error& error) {
    calls_.back() += "   // " + std::string(name_of(error.code()));
    require(outcome.may_be(error.code()),
            "threw (" + std::string(error.what()) + "), but " + outcome.text() + " is documented");
    ++counts_[kind + ": " + std::string(name_of(error.code()))];
    return false;
  }
  require(outcome.ok(), "succeeded, but " + outcome.text() + " is documented");
  ++counts_[kind + ": ok"];
  return true;
}

void RandomProgram::require(bool as_documented, const std::string& what) {
  if (as_documented) {
    return;
  }
  std::string program;
  for (const std::string& line : calls_) {
    program += "  " + line + "\n";
  }
  throw Surprise("The last call of this program " + what + ":\n" + program);
}

void RandomProgram::require_value(const Value& expected, std::span<const std::byte> bytes,
                                  const std::string& what) {
  Value actual;
  if (expected.integers.empty()) {
    actual.numbers.resize(bytes.size() / sizeof(float));
    std::memcpy(actual.numbers.data(), bytes.data(), bytes.size());
  } else {
    actual.integers.resize(bytes.size() / sizeof(std::int32_t));
    std::memcpy(actual.integers.data(), bytes.data(), bytes.size());
  }
  if (!(actual == expected)) {
    require(false, "gave " + what + " = " + text_of(actual) + ", not " + text_of(expected));
  }
}

void RandomProgram::open_executor() {
  std::erase_if(executors_,
                [&](const Executor& executor) { return !*executor.running && chance(2); });
  if (executors_.size() < 2) {
    const std::string name = fresh("executor");
    const std::size_t graphs = number(1, 2);
    call(name + " = GraphExecutor(" + std::to_string(graphs) + " graphs)", {}, [&] {
      const ExecutorOptions options{.graphs = {.max_graphs = graphs}};
      executors_.push_back({.name = name,
                            .real = GraphExecutor(device_, options),
                            .keyed = KeyedModel(graphs, false)});
    });
  }
}

/// Sessions and graphs keep what they need of it.
void RandomProgram::drop_executor() {
  if (executors_.size() == 2) {
    const auto at = executors_.begin() + static_cast<std::ptrdiff_t>(number(0, 1));
    calls_.push_back(at->name + " = {}");
    executors_.erase(at);
  }
}

void RandomProgram::end_executor() {
  Executor* executor = pick(executors_);
  if (chance(3)) {
    call(executor->name + ".shutdown()", {}, [&] { executor->real.shutdown(); });
    *executor->running = false;
  } else {
    call(executor->name + ".synchronize()", {}, [&] { executor->real.synchronize(); });
  }
}

}  // namespace reprise::testing
