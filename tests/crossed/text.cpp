// A program for people.
#include "tests/crossed/program.h"

namespace reprise::crossed {
namespace {

std::string text_of(const Op& op, int result) {
  std::string text =
      "  " + name_of_value(result) + " = " + kOpNames[static_cast<std::size_t>(op.kind)] + "(";
  std::string separator;
  for (const int operand : op.operands) {
    text += separator + (operand < 0 ? "-" : name_of_value(operand));
    separator = ", ";
  }
  text += "; ";
  for (std::size_t i = 0; i < op.numbers.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(op.numbers[i]);
  }
  return text + ")\n";
}

std::string text_of(const Round& round) {
  std::string text = "  " + std::string(kHowNames[static_cast<std::size_t>(round.how)]) +
                     ": rows " + std::to_string(round.rows) + ", iterations " +
                     std::to_string(round.iterations) + ", number " + std::to_string(round.number) +
                     ", factor " + std::to_string(round.factor) + "/8";
  if (round.position >= 0) {
    text += ", position " + std::to_string(round.position);
  }
  if (round.weights > 0) {
    text += ", weights " + std::to_string(round.weights);
  }
  if (round.given != Given::nothing) {
    text += round.given == Given::memory ? ", given memory" : ", given table";
  }
  if (round.before != Between::nothing) {
    text += ", after " + std::string(kBetweenNames[static_cast<std::size_t>(round.before)]);
  }
  return text + "\n";
}

}  // namespace

std::string name_of_value(int value) {
  return value < kLeaves ? kLeafNames[static_cast<std::size_t>(value)]
                         : "v" + std::to_string(value - kLeaves);
}

std::string text_of(const Program& program) {
  constexpr std::array kWheres{"cpu", "portable", "lanes", "gpu"};
  constexpr std::array kPasses{"none", "dead_nodes", "reorder", "in_place", "fuse", "exact"};
  constexpr std::array kTimings{"off", "replay", "node", "node_serialised"};
  constexpr std::array kHandles{"device", "host", "bound"};
  const Setup& s = program.setup;
  const auto said = [](bool is, const char* word) { return is ? std::string(word) : ""; };
  std::string text =
      "on " + std::string(kWheres[static_cast<std::size_t>(s.where)]) +
      said(!s.mapped, ", copied memory") + said(!s.replays, ", no replays") + ", threads " +
      std::to_string(s.threads) + said(s.fast, ", fast") + said(s.serialize, ", serialized") +
      ", passes " + kPasses[static_cast<std::size_t>(s.passes)] + ", timing " +
      kTimings[static_cast<std::size_t>(s.timing)] + said(s.profiled, ", profiled") +
      said(s.watched, ", watched") + ", " + std::to_string(s.in_flight) + " in flight" +
      said(s.extent, ", an extent") + ", bucket " + std::to_string(s.bucket) +
      said(s.stops, ", stops") + said(s.joined_host_steps, ", joined host steps") +
      said(s.two_executors, ", two executors") + said(s.other_threads, ", a thread per round") +
      said(s.tiny_arena, ", a tiny arena") + said(s.padded, ", padded inputs");
  if (s.executable) {
    text += ", executable with handles of " +
            std::string(kHandles[static_cast<std::size_t>(s.handles)]) + ", feed by " +
            (s.feed == Feed::swap ? "swap" : "copy") + said(s.placed_experts, ", placed experts") +
            said(s.cpu_misses, ", misses on the CPU");
  }
  text += "\n";
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    text += text_of(program.ops[i], kLeaves + static_cast<int>(i));
  }
  text += "  outputs:";
  for (const int output : program.outputs) {
    text += " " + name_of_value(output);
  }
  text += program.fed < 0 ? "\n" : "; fed: " + name_of_value(program.fed) + "\n";
  for (const Round& round : program.rounds) {
    text += text_of(round);
  }
  return text;
}

}  // namespace reprise::crossed
