#include "tests/vulkan/fault_run.h"

#include <algorithm>

#include "backends/vulkan/vulkan_backend.h"

namespace reprise::fault {
namespace {

const std::string& device_name() {
  static const std::string name = [] {
    const std::vector<DeviceInfo> devices = vulkan::enumerate();
    const auto software = std::ranges::find(devices, "cpu", &DeviceInfo::type);
    const auto index = software == devices.end() ? 0 : software - devices.begin();
    return "vulkan:" + std::to_string(index);
  }();
  return name;
}

using Floats = std::vector<float>;

/// y = x * w + table[row], where w is a diagonal: a product, whose kernel reads texels.
Tensor hello(Recorder& s, const Tensor& x, const Tensor& w, const Tensor& table,
             const StateField& row) {
  const auto scope = s.scope("hello");
  return add(s, matmul(s, x, w), get_rows(s, table, row));
}

}  // namespace

LogCallback Log::callback() {
  return [this](LogLevel level, std::string_view text) {
    if (level >= LogLevel::warning && text.find("MessageID") != std::string_view::npos) {
      const std::lock_guard lock(mutex_);
      validation_.append(text).append("\n");
    }
  };
}

std::string Log::validation() const {
  const std::lock_guard lock(mutex_);
  return validation_;
}

Device open_logged(Log& log, std::chrono::milliseconds hang_timeout, bool map_memory) {
  OpenOptions options;
  options.validation = true;
  options.log = log.callback();
  options.hang_timeout = hang_timeout;
  options.map_device_memory = map_memory;
  return open_device(device_name(), options);
}

bool run_hello(const Device& device) {
  const Floats diagonal{1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4};
  const Tensor w = device.from_host({4, 4}, diagonal, "w");
  const Tensor table = device.from_host({2, 4}, Floats{1, 1, 1, 1, 5, 6, 7, 8}, "table");
  const StateBlock state(device, StateLayout().host("row"));
  GraphExecutor executor(device);
  bool right = true;

  auto recorded = executor.begin_recorded({.name = "hello", .state = state});
  recorded.output("y", hello(recorded, recorded.input("x", {1, 4}, Floats{1, 1, 1, 1}), w, table,
                             recorded.state("row")));
  FinishResult finished = recorded.finish();
  right = right && finished.read("y") == Floats{2, 3, 4, 5};
  CapturedGraph& graph = finished.graph;
  graph.set("x", Floats{2, 2, 2, 2});
  graph.set("row", 1);
  graph.launch();
  right = right && graph.read("y") == Floats{7, 10, 13, 16};
  const Ticket first = graph.launch_async();
  graph.set("row", 0);
  const Ticket second = graph.launch_async();
  static_cast<void>(second.done());
  right =
      right && second.read("y") == Floats{3, 5, 7, 9} && first.read("y") == Floats{7, 10, 13, 16};

  auto direct = executor.begin({.state = state});
  direct.output("y", hello(direct, direct.input("x", {1, 4}, Floats{0, 1, 2, 3}), w, table,
                           direct.state("row")));
  right = right && direct.finish().read("y") == Floats{1, 3, 7, 13};

  const auto bytes = device.to_host(w);
  const Floats kept(reinterpret_cast<const float*>(bytes.data()),
                    reinterpret_cast<const float*>(bytes.data() + bytes.size()));
  return right && kept == diagonal;
}

}  // namespace reprise::fault
