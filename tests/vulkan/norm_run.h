// A chain of rms_norm steps on one device, with staging: what the backend tests encode and check.
#pragma once
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "framework/core/lowering.h"
#include "framework/core/op.h"
#include "reprise/backend/backend.h"
#include "reprise/ops/rms_norm.h"

namespace reprise::ops {
extern const OpDef rms_norm_def;
}

namespace reprise::vulkan {

struct NormRun {
  static constexpr std::int64_t kRows = 13;
  static constexpr std::int64_t kCols = 37;
  static constexpr std::uint64_t kBytes = sizeof(float) * kRows * kCols;
  enum Pool : std::uint32_t { from_host, x, weight, y, z, to_host, state };

  NormRun(Backend& on, std::uint64_t seed) : device(on) {
    constexpr BufferKind kKinds[] = {BufferKind::upload, BufferKind::device, BufferKind::device,
                                     BufferKind::device, BufferKind::device, BufferKind::download};
    for (const BufferKind kind : kKinds) {
      pools.push_back(device.allocate("pool " + std::to_string(pools.size()), 2 * kBytes, kind));
    }
    pools.push_back(device.allocate("state", block.bytes(), BufferKind::device));
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-2, 2);
    input.resize(2 * kBytes / sizeof(float));
    for (float& value : input) {
      value = uniform(random);
    }
    std::memcpy(pools[from_host]->mapped(), input.data(), 2 * kBytes);
    std::memset(pools[to_host]->mapped(), 0xFF, 2 * kBytes);
  }

  /// Encodes one step of its own list.
  void copy(Encoder& encoder, std::uint32_t from, std::uint64_t offset, std::uint32_t to,
            std::uint64_t bytes = kBytes) {
    steps = StepList();
    steps.copy(0, {from, Access::read, BindingType::storage, offset, bytes},
               {to, Access::write, BindingType::storage, 0, bytes});
    encoder.step(steps, 0, pools);
  }
  void norm(Encoder& encoder, std::uint32_t from, std::uint32_t to) {
    const TensorSpec matrix({kRows, kCols}, DType::f32);
    const TensorSpec row({kCols}, DType::f32);
    const std::vector<BoundTensor> tensors{{&matrix, from, 0}, {&row, weight, 0}, {&matrix, to, 0}};
    const RmsNormAttributes attributes{1e-5F};
    steps = StepList();
    lower({ops::rms_norm_def,
           0,
           tensors,
           {&block, state, 0},
           std::as_bytes(std::span(&attributes, 1))},
          device.traits(), steps);
    kernel = steps[0].kernel;
    encoder.step(steps, 0, pools);
  }
  /// Inputs to the device: x from the first half of the upload, weights from the second.
  void upload(Encoder& encoder) {
    copy(encoder, from_host, 0, x);
    copy(encoder, from_host, kBytes, weight);
    encoder.barrier();
  }
  EncodingRef whole(bool reusable) {
    const auto encoder =
        device.encoder({.name = "whole", .reusable = reusable, .ends_at_host = true});
    encoder->begin_label("norms");
    upload(*encoder);
    norm(*encoder, x, y);
    encoder->barrier();
    norm(*encoder, y, z);
    encoder->barrier();
    copy(*encoder, z, 0, to_host);
    encoder->end_label();
    return encoder->finish();
  }
  void run(const EncodingRef& encoding) { run(std::span(&encoding, 1)); }
  void run(std::span<const EncodingRef> encodings) {
    device.wait(device.submit(encodings, AfterSubmit::will_wait));
  }

  std::vector<float> result() const {
    std::vector<float> values(kRows * kCols);
    std::memcpy(values.data(), pools[to_host]->mapped(), kBytes);
    return values;
  }
  /// The same in float64 on the host.
  std::vector<double> expected(int norms) const {
    std::vector<double> values(input.begin(), input.begin() + kRows * kCols);
    const auto weights = input.begin() + kRows * kCols;
    for (int i = 0; i < norms; ++i) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto from = values.begin() + row * kCols;
        double sum = 0;
        for (std::int64_t c = 0; c < kCols; ++c) {
          sum += from[c] * from[c];
        }
        const double scale = 1 / std::sqrt(sum / kCols + 1e-5);
        for (std::int64_t c = 0; c < kCols; ++c) {
          from[c] *= scale * static_cast<double>(weights[c]);
        }
      }
    }
    return values;
  }
  /// The largest difference; NaN if any is.
  double error(int norms) const {
    const std::vector<float> got = result();
    const std::vector<double> want = expected(norms);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double difference = std::abs(static_cast<double>(got[i]) - want[i]);
      worst = difference <= worst ? worst : difference;
    }
    return worst;
  }

  Backend& device;
  std::vector<std::shared_ptr<Buffer>> pools;
  std::vector<float> input;
  const TensorSpec block{{1024}, DType::i32};  // of state, which a norm may read
  StepList steps;
  Kernel kernel;  // of the norms
};

}  // namespace reprise::vulkan
