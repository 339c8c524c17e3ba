// Tensors made by a rule, and tensors shared with other libraries.
// usage: make_tensors [device]
#include <cstdio>

#include "reprise/core/encode.h"
#include "reprise/core/printable.h"
#include "reprise/reprise.h"
#include "reprise/session/dlpack.h"

using reprise::Device, reprise::DType, reprise::Tensor;

template <class T>
static void print(const Device& device, const Tensor& tensor) {
  for (const T value : device.to_host<T>(tensor)) {
    std::printf(" %.9g", static_cast<double>(value));
  }
  std::printf("\n");
}

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");

  const auto cache = device.zeros({64, 8, 128}, DType::f16, "cache");
  const auto table = device.arange({4, 4}, DType::f32, 0, 0.5, "table");
  const auto dice = device.uniform({6}, DType::i32, 42, 1, 7, "dice");
  const auto weights = device.normal({2, 2}, DType::f32, 42, 0, 0.02, "weights");
  const auto row = slice(table, 0, 2, 1);  // the memory of the table

  // Weights in f16 from floats: encoder_of() rounds as the ops that write f16 do.
  const std::vector<float> floats = {0.1F, -2, 70000};
  std::vector<std::byte> halves(floats.size() * 2);
  reprise::encoder_of(DType::f16)(floats.data(), floats.size(), halves.data());
  const auto rounded = device.from_host({3}, DType::f16, halves, "rounded");

  // What the CPU computes on can be lent to any library that speaks DLPack, and taken from it.
  const auto host = reprise::open_device("cpu");
  DLManagedTensor* lent = to_dlpack(host, host.full({3}, DType::f32, 0.25));
  const auto taken = from_dlpack(device, lent, {.name = "taken"});

  std::printf("cache: %llu bytes\nrow:", static_cast<unsigned long long>(cache.spec().bytes()));
  print<float>(device, row);
  std::printf("dice:");
  print<std::int32_t>(device, dice);
  std::printf("weights:");
  print<float>(device, weights);
  std::printf("rounded:");
  for (const std::byte part : device.to_host(rounded)) {
    std::printf(" %02x", std::to_integer<unsigned int>(part));
  }
  std::printf("\ntaken:");
  print<float>(device, taken);
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
