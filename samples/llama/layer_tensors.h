// The tensors of one layer, by their names in the file without "blk.<layer>.".
#pragma once
#include "samples/llama/model.h"

namespace llama {

class LayerTensors {
 public:
  LayerTensors(const reprise::Device& device, const Weights& weights, std::int64_t layer,
               std::int64_t positions, const ModelOptions& options)
      : device_(device),
        weights_(weights),
        index_(layer),
        positions_(positions),
        options_(options) {}

  std::int64_t index() const { return index_; }
  /// Throws invalid_argument if there is none of that name, or if it has another shape.
  reprise::Tensor get(const std::string& name, const reprise::Shape& shape) const;
  /// Empty if there is none of that name.
  reprise::Tensor find(const std::string& name, const reprise::Shape& shape) const;

  /// Norm, projections and caches of keys and values, with biases where the file has them.
  void attention(const Sizes& sizes, Layer& layer) const;
  void feed_forward(const Sizes& sizes, Layer& layer) const;
  /// In the place of the above, with its norm.
  void experts(const Sizes& sizes, Layer& layer) const;
  /// A state-space block with its norm and what its sequences leave.
  void state_space(const Sizes& sizes, Layer& layer) const;

 private:
  reprise::Tensor expert(const std::string& projection, const reprise::Shape& shape) const;
  reprise::Tensor zeros(const char* name, const reprise::Shape& shape,
                        reprise::DType type = reprise::DType::f32) const;

  const reprise::Device& device_;
  const Weights& weights_;
  std::int64_t index_, positions_;
  const ModelOptions& options_;
};

}  // namespace llama
