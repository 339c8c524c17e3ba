// reprise doctor: what this machine offers, and whether each device computes what it should.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "reprise/core/printable.h"
#include "reprise/reprise.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kColumns = 256;
constexpr std::int64_t kRows = 64;

struct Check {
  std::string name;
  std::string problem;  // empty: passed
};

struct Examined {
  FoundDevice found;
  std::vector<Check> checks;
};

std::vector<float> waves(std::int64_t elements, float step) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i) * step);
  }
  return values;
}

/// norm, product and sum: what every model does.
void pass(GraphSession& s, const Tensor& w) {
  const Tensor x = s.input("x", {1, kColumns}, waves(kColumns, 0.37F));
  const Tensor y = matmul(s, rms_norm(s, x, {}, {.eps = 1e-5F}), w);
  s.output("y", silu_mul(s, y, add(s, y, y)));
}

/// The same in float64.
std::vector<float> expected() {
  const std::vector<float> x = waves(kColumns, 0.37F), w = waves(kRows * kColumns, 0.11F);
  double squares = 0;
  for (const float value : x) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(kColumns) + 1e-5);
  std::vector<float> result;
  for (std::size_t row = 0; row < kRows; ++row) {
    double y = 0;
    for (std::size_t i = 0; i < kColumns; ++i) {
      y += static_cast<double>(x[i]) * scale * static_cast<double>(w[row * kColumns + i]);
    }
    result.push_back(static_cast<float>(y / (1 + std::exp(-y)) * 2 * y));
  }
  return result;
}

std::string difference(const std::vector<float>& wanted, const std::vector<float>& actual) {
  constexpr double kTolerance = 1e-3;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double apart = std::abs(static_cast<double>(wanted[i]) - static_cast<double>(actual[i]));
    if (!(apart <= kTolerance * (1 + std::abs(static_cast<double>(wanted[i]))))) {
      return "element " + std::to_string(i) + " is (" + std::to_string(actual[i]) +
             ") instead of " + std::to_string(wanted[i]);
    }
  }
  return "";
}

std::string says(const std::function<std::string()>& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return error.what();
  }
}

Examined examine(FoundDevice found) {
  Examined examined{std::move(found), {}};
  const auto add = [&](const char* name, const std::function<std::string()>& check) {
    examined.checks.push_back({name, says(check)});
    return examined.checks.back().problem.empty();
  };
  std::optional<Device> device;
  if (!add("opens", [&] { return device = open_device(examined.found.name), std::string(); })) {
    return examined;
  }
  add("keeps tensors", [&] {
    const std::vector<float> values = waves(100'003, 0.01F);
    const auto bytes = std::as_bytes(std::span(values));
    const std::vector<std::byte> sent(bytes.begin(), bytes.end());
    return device->to_host(device->from_host({100'003}, values)) == sent
               ? ""
               : "what comes back is not what was sent";
  });
  GraphExecutor executor(*device);
  const Tensor w = device->from_host({kRows, kColumns}, waves(kRows * kColumns, 0.11F), "w");
  std::vector<float> direct;
  add("runs direct sessions", [&] {
    auto s = executor.begin();
    pass(s, w);
    direct = s.finish().read("y");
    return difference(expected(), direct);
  });
  add("replays recorded ones to the same bits", [&]() -> std::string {
    auto s = executor.begin_recorded();
    pass(s, w);
    CapturedGraph graph = s.finish().graph;
    for (int i = 0; i < 3; ++i) {
      graph.launch();
      if (graph.read("y") != direct) {
        return "replay " + std::to_string(i) + " differs";
      }
    }
    return examined.found.capabilities.timestamp_valid_bits == 0 || graph.last_times().device_ns
               ? ""
               : "it has a clock, but its replays have no time";
  });
  add("shuts down", [&] { return device->shutdown(), std::string(); });
  return examined;
}

/// Of what is not wrong, but missing.
std::vector<std::string> advice(const std::vector<Examined>& devices) {
  std::vector<std::string> lines;
  const auto any = [&](const auto& has) {
    return std::any_of(devices.begin(), devices.end(),
                       [&](const Examined& e) { return has(e.found.info); });
  };
  if (!any([](const DeviceInfo& info) { return info.backend == "vulkan"; })) {
    lines.emplace_back(
        "No Vulkan 1.3 device was found: install the driver of the GPU, or mesa-vulkan-drivers for "
        "a software one. The CPU backend and the debugger's files work without.");
  } else if (!any([](const DeviceInfo& info) { return info.type != "cpu"; })) {
    lines.emplace_back(
        "The only Vulkan drivers are software: `auto` takes the CPU backend, which is faster.");
  }
  const char* const workers = std::getenv("LP_NUM_THREADS");
  if (any([](const DeviceInfo& info) { return info.driver_name == "llvmpipe"; }) &&
      (workers == nullptr || std::string_view(workers) != "0")) {
    lines.emplace_back(
        "The software driver llvmpipe (lavapipe) hands every kernel to its threads: with "
        "LP_NUM_THREADS=0 in the environment small models decode several times faster; long "
        "prompts and large models may not. docs/devices.md has what was measured.");
  }
  if (any([](const DeviceInfo& info) { return info.backend == "vulkan"; })) {
    const std::string missing = says([] {
      open_device("vulkan", {.validation = true});
      return std::string();
    });
    if (!missing.empty()) {
      lines.emplace_back("There is no validation (install vulkan-validationlayers): " + missing);
    }
  }
  return lines;
}

std::string gib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1U << 30U));
  return text;
}

void print(const Examined& examined) {
  const DeviceInfo& info = examined.found.info;
  const BackendCapabilities& has = examined.found.capabilities;
  std::printf("%s  %s (%s)\n", examined.found.name.c_str(), printable(info.name).c_str(),
              info.type.c_str());
  std::printf("  driver      %s %s%s%s\n", printable(info.driver_name).c_str(),
              printable(info.driver_info).c_str(), info.api_version.empty() ? "" : ", Vulkan ",
              info.api_version.c_str());
  for (const HeapInfo& heap : has.heaps) {
    std::printf("  memory      %s%s%s\n", gib(heap.bytes).c_str(),
                heap.device_local ? ", of the device" : "",
                heap.host_visible ? ", seen by the host" : "");
  }
  if (has.runs_on_host) {
    std::printf("  kernels     host functions\n");
  } else {
    std::printf("  kernels     %s, subgroups of %u, %u bytes of shared memory\n",
                std::string(name_of(has.kernels)).c_str(), has.subgroup_size, has.shared_bytes);
  }
  std::printf("  timestamps  %s\n", has.timestamp_valid_bits == 0 ? "none" : "yes");
  for (const Check& check : examined.checks) {
    std::printf("  %s  %s%s%s\n", check.problem.empty() ? "ok    " : "FAILED", check.name.c_str(),
                check.problem.empty() ? "" : ": ", printable_lines(check.problem).c_str());
  }
}

nlohmann::json to_json(const Examined& examined) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Check& check : examined.checks) {
    checks.push_back(
        {{"name", check.name}, {"ok", check.problem.empty()}, {"problem", check.problem}});
  }
  return {{"name", examined.found.name},
          {"backend_version", examined.found.info.backend_version},
          {"device", examined.found.info.name},
          {"type", examined.found.info.type},
          {"driver", examined.found.info.driver_name},
          {"driver_info", examined.found.info.driver_info},
          {"kernels", name_of(examined.found.capabilities.kernels)},
          {"timestamp_valid_bits", examined.found.capabilities.timestamp_valid_bits},
          {"transfer_queue", false},
          {"checks", checks}};
}

}  // namespace

bool print_doctor(bool json) {
  std::vector<Examined> devices;
  for (FoundDevice& found : enumerate()) {
    devices.push_back(examine(std::move(found)));
  }
  const std::vector<std::string> lines = advice(devices);
  std::size_t failures = 0;
  for (const Examined& examined : devices) {
    for (const Check& check : examined.checks) {
      failures += check.problem.empty() ? 0U : 1U;
    }
  }
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Examined& examined : devices) {
      list.push_back(to_json(examined));
    }
    print_json(nlohmann::json{{"devices", list}, {"advice", lines}, {"failures", failures}});
    return failures == 0;
  }
  for (const Examined& examined : devices) {
    print(examined);
  }
  for (const std::string& line : lines) {
    std::printf("%s\n", printable_lines(line).c_str());
  }
  std::printf(failures == 0 ? "All checks passed.\n" : "%zu checks failed.\n", failures);
  return failures == 0;
}

}  // namespace reprise::cli
