// The tensors of a GGUF file on a device: in place in the file's mapping where the device can use
// it, else uploaded. A few large buffers in either case.
#pragma once
#include <map>
#include <span>
#include <string>

#include "reprise/formats/gguf.h"
#include "reprise/session/device.h"

namespace llama {

struct WeightBytes {
  std::uint64_t all = 0;
  std::uint64_t in_place = 0;  // of these, what is read from the file's mapping
};

class Weights {
 public:
  Weights(const reprise::Device& device, const reprise::GgufFile& file);
  /// Throws invalid_argument naming the tensor if the file has none of that name.
  reprise::Tensor get(const std::string& name) const;
  /// Also if it has another shape.
  reprise::Tensor get(const std::string& name, const reprise::Shape& shape) const;
  /// Empty if the file has none of that name.
  reprise::Tensor find(const std::string& name) const;

  const WeightBytes& bytes() const { return bytes_; }

 private:
  void upload(const reprise::Device& device, std::span<const reprise::GgufTensor* const> tensors);
  void add(const reprise::GgufTensor& tensor, std::shared_ptr<reprise::Buffer> buffer,
           std::uint64_t offset);

  std::map<std::string, reprise::Tensor> tensors_;
  WeightBytes bytes_;
};

}  // namespace llama
