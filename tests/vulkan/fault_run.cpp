#include "tests/vulkan/fault_run.h"

#include <algorithm>

#include "backends/vulkan/vulkan_backend.h"
#include "tests/validation_bugs.h"

namespace reprise::fault {
namespace {

const std::string& device_name() {
  static const std::string name = [] {
    const std::vector<DeviceDescription> devices = vulkan::enumerate();
    const auto software =
        std::ranges::find(devices, "cpu", [](const DeviceDescription& d) { return d.info.type; });
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

/// z = y + y, by a kernel that is compiled here.
Tensor doubled(const Device& device, Recorder& s, const Tensor& y) {
  const CustomKernel kernel =
      device.compile_kernel({.name = "double",
                             .glsl = "#version 450\n"
                                     "layout(local_size_x = 4) in;\n"
                                     "layout(binding = 0) readonly buffer Y { float y[]; };\n"
                                     "layout(binding = 1) writeonly buffer Z { float z[]; };\n"
                                     "void main() {\n"
                                     "  uint i = gl_LocalInvocationID.x;\n"
                                     "  z[i] = y[i] + y[i];\n"
                                     "}\n"},
                            {.bindings = {{"y", Access::read}, {"z", Access::write}}});
  return dispatch(s, kernel, {y}, {y.spec()}, {}, {1, 1, 1})[0];
}

}  // namespace

LogCallback Log::callback() {
  return [this](LogLevel level, std::string_view text) {
    if (level >= LogLevel::warning && text.find("MessageID") != std::string_view::npos &&
        !testing::is_bug_of_validation(text)) {
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
  graph.set_input("x", Floats{2, 2, 2, 2});
  graph.set_state("row", 1);
  graph.launch();
  right = right && graph.read("y") == Floats{7, 10, 13, 16};
  const Ticket first = graph.launch_async();
  graph.set_state("row", 0);
  const Ticket second = graph.launch_async();
  static_cast<void>(second.done());
  right =
      right && second.read("y") == Floats{3, 5, 7, 9} && first.read("y") == Floats{7, 10, 13, 16};

  auto direct = executor.begin({.state = state});
  direct.output("z", doubled(device, direct,
                             hello(direct, direct.input("x", {1, 4}, Floats{0, 1, 2, 3}), w, table,
                                   direct.state("row"))));
  right = right && direct.finish().read("z") == Floats{2, 6, 14, 26};

  const auto bytes = device.to_host(w);
  const Floats kept(reinterpret_cast<const float*>(bytes.data()),
                    reinterpret_cast<const float*>(bytes.data() + bytes.size()));
  const Tensor copied = device.zeros({4, 4}, DType::f32, "copied");
  device.copy(w, copied);
  executor.trim();
  executor.defragment();
  right = right && kept == diagonal && device.to_host(copied) == bytes;
  device.synchronize_async().wait();
  return right && device.status().state == DeviceState::ready;
}

}  // namespace reprise::fault
