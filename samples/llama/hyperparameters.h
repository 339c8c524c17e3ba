// The hyper-parameters of a GGUF file: the keys "<architecture>.<name>" of its metadata. A value
// that is missing or makes no sense is an invalid_argument that names the key, the value and what
// is allowed.
#pragma once
#include <string>
#include <string_view>

#include "reprise/formats/gguf.h"

namespace llama {

class Hyperparameters {
 public:
  /// Errors: invalid_argument without "general.architecture".
  explicit Hyperparameters(const reprise::GgufFile& file);

  const std::string& architecture() const { return architecture_; }
  const reprise::GgufFile& file() const { return file_; }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// From 1 to 2^24.
  std::int64_t count(std::string_view name) const;
  std::int64_t count_or(std::string_view name, std::int64_t otherwise) const;
  /// Finite, and in [least, most].
  float real(std::string_view name, float min, float max) const;
  float real_or(std::string_view name, float otherwise, float min, float max) const;
  std::string_view text_or(std::string_view name, std::string_view otherwise) const;

  /// "llama.attention.head_count"
  std::string key(std::string_view name) const;
  /// Throws: the key `name` has that value, but `allowed`.
  [[noreturn]] void refuse(std::string_view name, const std::string& value,
                           const std::string& allowed) const;

 private:
  const reprise::GgufValue* find(std::string_view name) const;

  reprise::GgufFile file_;
  std::string architecture_;
};

}  // namespace llama
