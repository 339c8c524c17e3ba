// GraphKey: under what a graph is kept and found again.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reprise/graph/hasher.h"

namespace reprise {

/// An identity that no other object of the process has. A model holds one, so that its graphs never
/// meet those of another model, whatever the two call them. Not copyable: a copy of a model is
/// another model. One that was moved from has no identity any more.
class GraphOwner {
 public:
  /// What a key keeps of its owner, which may die before it.
  class Id {
   public:
    Id() = default;
    /// A new one.
    explicit Id(std::string name);
    /// 0: none.
    std::uint64_t number() const { return identity_ == nullptr ? 0 : identity_->number; }
    std::string_view name() const {
      return identity_ == nullptr ? std::string_view() : std::string_view(identity_->name);
    }
    bool operator==(const Id& other) const { return number() == other.number(); }
    auto operator<=>(const Id& other) const { return number() <=> other.number(); }

   private:
    struct Identity {
      std::uint64_t number;
      std::string name;
    };
    std::shared_ptr<const Identity> identity_;
  };

  explicit GraphOwner(std::string name) : id_(std::move(name)) {}
  GraphOwner(const GraphOwner&) = delete;
  GraphOwner& operator=(const GraphOwner&) = delete;
  GraphOwner(GraphOwner&&) noexcept = default;
  GraphOwner& operator=(GraphOwner&&) noexcept = default;
  ~GraphOwner() = default;

  // NOLINTNEXTLINE(google-explicit-constructor)
  operator Id() const { return id_; }
  std::uint64_t number() const { return id_.number(); }
  std::string_view name() const { return id_.name(); }

 private:
  Id id_;
};

/// {.owner = model.owner, .tag = "decode", .bucket = {rows, length}, .parameters = ...}. Keys are
/// equal if all members are. The device, and whether the memory that was recorded is still there,
/// need no place in it: caches see to both.
struct GraphKey {
  GraphOwner::Id owner{};
  std::string tag{};                   // which pass of the owner
  std::vector<std::int64_t> bucket{};  // the shapes it serves: upper bounds
  std::uint64_t parameters = 0;        // hash_parameters(...) of what else is baked into the pass

  auto operator<=>(const GraphKey&) const = default;
  bool operator==(const GraphKey&) const = default;
  /// "decode [64, 1] of 'llama' (owner 3), parameters 00000000000000ab".
  std::string text() const;
  /// {"owner":"llama","owner_number":3,"tag":"decode","bucket":[64,1],"parameters":"..."}
  std::string json() const;
};

namespace detail {
template <class T>
void add_parameter(Hasher& hash, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    hash.text(value);
  } else {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "numbers, enumerators and text");
    hash.bytes(std::as_bytes(std::span(&value, 1)));
  }
}
}  // namespace detail

/// Of the static parameters of a pass: numbers, enumerators and text, in order.
template <class... T>
std::uint64_t hash_parameters(const T&... values) {
  Hasher hash;
  (detail::add_parameter(hash, values), ...);
  return hash.digest();
}

}  // namespace reprise
