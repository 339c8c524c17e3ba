#include "samples/llama/checks.h"

#include <algorithm>

namespace llama {

using reprise::GraphSession;

CheckOutcome check(reprise::GraphExecutor& executor, const Model& model, const Request& request,
                   const Checks& checks) {
  require_prompt(model, request);
  const auto context = static_cast<std::int32_t>(request.context);
  const auto rows = static_cast<std::int32_t>(request.prompt.size());
  const reprise::StateBlock state = make_state(executor.device(), request);
  const std::vector<std::int32_t> prompt(request.prompt.begin(), request.prompt.end());
  std::vector<std::int32_t> tokens = prompt;
  const auto prefill = [&](GraphSession& s) { record_prompt(s, model, tokens, request.sampling); };
  const auto decode = [&](GraphSession& s) { record_step(s, model, request.sampling); };
  const auto at = [&](std::int32_t row_count, std::int32_t position) {
    state.set({{"rows", row_count}, {"pos", std::clamp(position, 0, context - row_count)}});
  };
  CheckOutcome outcome;
  const auto add = [&](const char* check, bool passed, const std::string& text) {
    outcome.passed = outcome.passed && passed;
    outcome.text += (outcome.text.empty() ? "" : "\n") + std::string(check) + ": " + text;
  };

  const auto linted = [&](const char* name, const reprise::RecordFunction& pass,
                          std::vector<std::function<void()>> runs) {
    const auto report =
        lint(executor, pass, {.session = {.name = name, .state = state}, .runs = std::move(runs)});
    add("lint", report.clean(), report.text());
  };
  if (checks.lint) {
    linted("prefill", prefill,
           {[&] { at(rows, 0); },
            [&] {
              at(rows, rows);
              std::ranges::reverse(tokens);
            }});
    tokens = prompt;
    const auto step = [&](std::int32_t position, std::int32_t token) {
      return [&, position, token] {
        at(1, position);
        state.set("token", token);
      };
    };
    linted("decode", decode,
           {step(0, prompt.front()), step(rows, prompt.back()), step(context - 1, 0)});
  }

  const auto verified = [&](const char* name, const reprise::RecordFunction& pass) {
    const auto report = verify(executor, pass, {.session = {.name = name, .state = state}});
    add("verify", report.equal(), report.text());
  };
  if (checks.verify) {
    at(rows, 0);
    verified("prefill", prefill);
    at(1, rows);
    state.set("token", prompt.back());
    verified("decode", decode);
  }
  return outcome;
}

}  // namespace llama
