// Uploads the tensors of a GGUF file: a few large buffers, every tensor aligned for binding.
#pragma once
#include <map>
#include <string>

#include "reprise/formats/gguf.h"
#include "reprise/session/device.h"

namespace llama {

class Weights {
 public:
  Weights(const reprise::Device& device, const reprise::GgufFile& file);
  /// Throws invalid_argument naming the tensor if the file has none of that name.
  reprise::Tensor get(const std::string& name) const;
  /// Empty if the file has none of that name.
  reprise::Tensor find(const std::string& name) const;

 private:
  std::map<std::string, reprise::Tensor> tensors_;
};

}  // namespace llama
