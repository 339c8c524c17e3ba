// The tensors of a GGUF file on a device: in place in the file's mapping where the device can use
// it, else uploaded. A few large buffers in either case. Those of experts may stay on the host.
#pragma once
#include <map>
#include <span>
#include <string>

#include "reprise/formats/gguf.h"
#include "reprise/session/expert_store.h"

namespace llama {

struct WeightBytes {
  std::uint64_t all = 0;
  std::uint64_t in_place = 0;  // of these, what is read from the file's mapping
  std::uint64_t experts = 0;   // of these, what a store of experts has
};

class Weights {
 public:
  /// With a store, tensors of experts are not on the device: expert() puts them there.
  Weights(const reprise::Device& device, const reprise::GgufFile& file,
          reprise::ExpertStore experts = {});
  /// Throws invalid_argument naming the tensor if the file has none of that name.
  reprise::Tensor get(const std::string& name) const;
  /// Also if it has another shape.
  reprise::Tensor get(const std::string& name, const reprise::Shape& shape) const;
  /// Empty if the file has none of that name.
  reprise::Tensor find(const std::string& name) const;
  /// The same as get; with a store the tensor becomes a projection of a layer in it, and the result
  /// is empty.
  reprise::Tensor expert(const std::string& name, const reprise::Shape& shape,
                         const std::string& layer, const std::string& projection) const;

  const WeightBytes& bytes() const { return bytes_; }

 private:
  void upload(const reprise::Device& device, std::span<const reprise::GgufTensor* const> tensors);
  void add(const reprise::GgufTensor& tensor, std::shared_ptr<reprise::Buffer> buffer,
           std::uint64_t offset);

  reprise::GgufFile file_;
  reprise::ExpertStore experts_;
  std::map<std::string, reprise::Tensor> tensors_;
  WeightBytes bytes_;
};

}  // namespace llama
