#include "reprise/session/graph_key.h"

#include <atomic>

#include "framework/graph/hasher.h"

namespace reprise {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::string joined(const std::vector<std::int64_t>& numbers, std::string_view between) {
  std::string text;
  for (const std::int64_t n : numbers) {
    text += (text.empty() ? "" : std::string(between)) + std::to_string(n);
  }
  return text;
}

/// Text that is not UTF-8 stays as it is.
std::string json_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      json += "\\u00";
      json += kDigits[byte >> 4U];
      json += kDigits[byte & 15U];
    } else {
      json += c == '"' || c == '\\' ? "\\" : "";
      json += c;
    }
  }
  return json + "\"";
}

}  // namespace

std::uint64_t GraphOwner::Id::number() const { return identity_ == nullptr ? 0 : identity_->first; }

std::string_view GraphOwner::Id::name() const {
  return identity_ == nullptr ? std::string_view() : std::string_view(identity_->second);
}

GraphOwner::Id::Id(std::string name)
    : identity_(std::make_shared<const std::pair<std::uint64_t, std::string>>(next_number(),
                                                                              std::move(name))) {}

std::string GraphKey::text() const {
  std::string text = tag;
  if (!bucket.empty()) {
    text += (tag.empty() ? "[" : " [") + joined(bucket, ", ") + "]";
  }
  text += " of '" + std::string(owner.name()) + "' (owner " + std::to_string(owner.number()) + ")";
  if (parameters != 0) {
    text += ", parameters " + hex_digits(parameters);
  }
  return text;
}

std::string GraphKey::json() const {
  return "{\"owner\":" + json_string(owner.name()) +
         ",\"owner_number\":" + std::to_string(owner.number()) + ",\"tag\":" + json_string(tag) +
         ",\"bucket\":[" + joined(bucket, ",") + "],\"parameters\":\"" + hex_digits(parameters) +
         "\"}";
}

std::uint64_t detail::hash_of(std::initializer_list<Parameter> parameters) {
  Hasher hash;
  for (const auto& [is_text, bytes] : parameters) {
    if (is_text) {
      hash.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } else {
      hash.bytes(bytes);
    }
  }
  return hash.digest();
}

}  // namespace reprise
