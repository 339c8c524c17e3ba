// Builds GGUF files for tests, right or deliberately wrong, and keeps bytes in a temporary file.
// Dimensions are in the order of the file: fastest first.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace reprise::test {

class TempFile {
 public:
  TempFile() {
    std::string name = (std::filesystem::temp_directory_path() / "reprise_XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
      throw std::runtime_error("Cannot create " + name);
    }
    ::close(descriptor);
    path_ = name;
  }
  explicit TempFile(const std::string& bytes) : TempFile() { write(bytes); }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  std::filesystem::path path_;
};

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string raw_text(std::string_view text) {
  return raw<std::uint64_t>(text.size()) + std::string(text);
}

class GgufBuilder {
 public:
  /// `type` and `encoded` as in the file, whatever they are. Replaces an entry of the same key.
  GgufBuilder& value(const std::string& key, std::uint32_t type, const std::string& encoded) {
    std::erase_if(values_, [&](const Entry& entry) { return entry.key == key; });
    values_.push_back({key, raw(type) + encoded});
    return *this;
  }
  GgufBuilder& without(const std::string& key) {
    std::erase_if(values_, [&](const Entry& entry) { return entry.key == key; });
    return *this;
  }
  GgufBuilder& text(const std::string& key, std::string_view value) {
    return this->value(key, 8, raw_text(value));
  }
  GgufBuilder& boolean(const std::string& key, bool value) {
    return this->value(key, 7, std::string(1, value ? '\1' : '\0'));
  }
  GgufBuilder& number(const std::string& key, std::uint32_t value) {
    return this->value(key, 4, raw(value));
  }
  template <class T>
  GgufBuilder& numbers(const std::string& key, std::uint32_t type, const std::vector<T>& items) {
    std::string encoded = raw(type) + raw<std::uint64_t>(items.size());
    for (const T item : items) {
      encoded += raw(item);
    }
    return value(key, 9, encoded);
  }
  GgufBuilder& texts(const std::string& key, const std::vector<std::string>& items) {
    std::string encoded = raw<std::uint32_t>(8) + raw<std::uint64_t>(items.size());
    for (const std::string& item : items) {
      encoded += raw_text(item);
    }
    return value(key, 9, encoded);
  }
  /// Of the tensors that follow.
  GgufBuilder& alignment(std::uint32_t bytes) {
    alignment_ = bytes;
    return number("general.alignment", bytes);
  }
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                      std::uint32_t type, const std::string& bytes) {
    tensors_ += raw_text(name) + raw(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) {
      tensors_ += raw(dim);
    }
    pad(data_);
    tensors_ += raw(type) + raw<std::uint64_t>(data_.size());
    data_ += bytes;
    ++tensor_count_;
    return *this;
  }

  std::string bytes() const {
    std::string file =
        "GGUF" + raw<std::uint32_t>(3) + raw(tensor_count_) + raw<std::uint64_t>(values_.size());
    for (const Entry& entry : values_) {
      file += raw_text(entry.key) + entry.encoded;
    }
    file += tensors_;
    pad(file);
    return file + data_;
  }

 private:
  struct Entry {
    std::string key;
    std::string encoded;
  };

  void pad(std::string& bytes) const {
    bytes.resize((bytes.size() + alignment_ - 1) / alignment_ * alignment_, '\0');
  }

  std::vector<Entry> values_;
  std::string tensors_;
  std::string data_;
  std::uint64_t tensor_count_ = 0;
  std::uint32_t alignment_ = 32;
};

}  // namespace reprise::test
