// Names of devices, and backends of somebody else.
#include <algorithm>

#include "reprise/backend/backend_factory.h"
#include "tests/session/counted_backend.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(OpenDevice, AutoNeverPicksASoftwareDriver) {
  const Device device = open_device("auto");
  EXPECT_TRUE(device.info().backend == "cpu" || device.info().type != "cpu");
}

TEST(OpenDevice, ListsEveryDeviceItCanOpenAsItIs) {
  const auto devices = reprise::enumerate();
  ASSERT_FALSE(devices.empty());
  for (const FoundDevice& found : devices) {
    const Device device = open_device(found.name);
    EXPECT_EQ(device.info().name, found.info.name);
    EXPECT_EQ(device.info().device_uuid, found.info.device_uuid);
    EXPECT_FALSE(found.info.backend_version.empty());
    EXPECT_EQ(device.capabilities().binding_bytes, found.capabilities.binding_bytes);
    EXPECT_EQ(device.capabilities().heaps.size(), found.capabilities.heaps.size());
    EXPECT_EQ(device.capabilities().kernels, found.capabilities.kernels);
  }
}

TEST(OpenDevice, TakesAPartOfTheNameInUpperOrLowerCase) {
  const FoundDevice found = reprise::enumerate().front();
  std::string part = found.info.name.substr(0, 4);
  for (char& c : part) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  EXPECT_EQ(open_device(found.info.backend + ":" + part).info().name, found.info.name);
}

TEST(OpenDevice, NamesWhatThereIs) {
  const auto refused = [](const char* name) {
    expect_error(ErrorCode::invalid_argument, {"(" + std::string(name) + ")", "cpu:0"},
                 [&] { (void)open_device(name); });
  };
  refused("gpu");
  refused("cpu:");
  refused("");
  refused("auto:1");
  const auto missing = [](const char* name) {
    expect_error(ErrorCode::unsupported, {"(" + std::string(name) + ")", "cpu:0"},
                 [&] { (void)open_device(name); });
  };
  missing("vulkan:99");
  missing("cpu:1");
  missing("cpu:99999999999999999999");
  missing("cpu:no such name");
}

TEST(OpenDevice, ATypeThatNoDeviceHasIsMissing) {
  for (const char* type : {"discrete", "integrated", "virtual"}) {
    const auto devices = reprise::enumerate();
    const auto it =
        std::ranges::find(devices, type, [](const FoundDevice& d) { return d.info.type; });
    if (it == devices.end()) {
      expect_error(ErrorCode::unsupported, {type, "cpu:0"}, [&] { (void)open_device(type); });
    } else {
      EXPECT_EQ(open_device(type).info().name, it->info.name);
    }
  }
}

TEST(OpenDevice, RequirementsChooseTheFirstDeviceThatMeetsThem) {
  EXPECT_EQ(open_device(DeviceRequirements{.backend = "cpu"}).info().backend, "cpu");
  const Device vulkan = open_device(DeviceRequirements{.backend = "vulkan", .timestamps = true});
  EXPECT_EQ(vulkan.info().backend, "vulkan");
  EXPECT_TRUE(vulkan.meets({.backend = "vulkan", .timestamps = true}));
  EXPECT_FALSE(vulkan.meets({.backend = "cpu"}));
  const Device any = open_device(DeviceRequirements{.memory_bytes = 1});
  EXPECT_TRUE(any.info().type != "cpu" || any.info().backend == "cpu") << "a software driver";
  expect_error(ErrorCode::unsupported,
               {"cpu:0", "vulkan:0", "bytes of memory: wanted at least (18446744073709551615)"},
               [] { (void)open_device(DeviceRequirements{.memory_bytes = ~std::uint64_t{0}}); });
}

TEST(OpenDevice, SeveralDevicesWorkSideBySide) {
  const std::vector<Device> devices{open_device("cpu"), open_device("vulkan"), open_device("cpu")};
  const std::vector<float> x{1, 2, 3, 4};
  for (const Device& device : devices) {
    GraphExecutor executor(device);
    auto s = executor.begin_recorded();
    s.output("y", add(s, s.input("x", {4}, x), device.from_host({4}, x)));
    EXPECT_EQ(s.finish().graph.read("y"), (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_NE(&devices[0].backend(), &devices[2].backend());
  const Tensor first = devices[0].from_host({4}, x, "first");
  expect_error(ErrorCode::invalid_argument, {"another device"}, [&] { devices[2].free(first); });
}

TEST(OpenDevice, MayHappenOnAThreadOfItsOwn) {
  EXPECT_EQ(open_device_async("cpu").get().info().backend, "cpu");
  auto missing = open_device_async("cpu:7");
  expect_error(ErrorCode::unsupported, {"(cpu:7)"}, [&] { (void)missing.get(); });
}

/// A device that counts buffers, behind the name of another backend.
BackendFactory counted() {
  const Device cpu = open_device("cpu");
  return {"counted", "2.5",
          [cpu] {
            DeviceInfo info = cpu.info();
            info.backend = "counted";
            return std::vector<DeviceDescription>{{info, cpu.capabilities()}};
          },
          [cpu](std::size_t, const OpenOptions&) -> std::shared_ptr<Backend> {
            return std::make_shared<CountedBackend>(cpu);
          }};
}

struct Registered {
  explicit Registered(BackendFactory factory) : name(factory.name) {
    register_backend(std::move(factory));
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { unregister_backend(name); }
  std::string name;
};

TEST(RegisteredBackend, IsListedAndOpenedLikeABuiltInOne) {
  const Registered registered(counted());
  const auto all = backends();
  ASSERT_GE(all.size(), 3U);
  EXPECT_EQ(all[0].name, "vulkan");
  EXPECT_EQ(all[1].name, "cpu");
  EXPECT_EQ(all.back().name + " " + all.back().version, "counted 2.5");
  EXPECT_EQ(reprise::enumerate().back().name, "counted:0");
  EXPECT_EQ(reprise::enumerate().back().info.backend_version, "2.5");
  const Device device = open_device("counted");
  const Tensor t = device.from_host({2}, std::vector<float>{1, 2}, "t");
  EXPECT_EQ(dynamic_cast<CountedBackend&>(device.backend()).live().bytes, 8U);
  EXPECT_EQ(device.to_host<float>(t), (std::vector<float>{1, 2}));
}

TEST(RegisteredBackend, IsGoneOnceItIsUnregisteredButItsDevicesWork) {
  std::optional<Registered> registered(counted());
  const Device device = open_device("counted:0");
  registered.reset();
  EXPECT_FALSE(unregister_backend("counted"));
  EXPECT_NE(backends().back().name, "counted");
  expect_error(ErrorCode::invalid_argument, {"(counted)"}, [] { (void)open_device("counted"); });
  EXPECT_EQ(device.to_host(device.zeros({1}, DType::f32)), std::vector<std::byte>(4));
}

TEST(RegisteredBackend, NeedsAFreeNameAndFunctions) {
  const Registered registered(counted());
  for (const char* name : {"", "Upper", "two words", "a:b", "auto", "discrete", "counted", "cpu"}) {
    BackendFactory factory = counted();
    factory.name = name;
    expect_error(ErrorCode::invalid_argument, {"(" + std::string(name) + ")"},
                 [&] { register_backend(factory); });
  }
  BackendFactory factory = counted();
  factory.name = "no_open";
  factory.open = nullptr;
  expect_error(ErrorCode::invalid_argument, {"(no_open)", "functions"},
               [&] { register_backend(factory); });
  EXPECT_FALSE(unregister_backend("cpu"));
}

}  // namespace
}  // namespace reprise::testing
