// GraphKey: the key under which a graph is kept and found again.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace reprise {

/// An identity that no other object of the process has. A model holds one, so that its graphs never
/// collide with those of another model, even under the same names. Not copyable: a copy of a model
/// is a different model. One that was moved from has no identity any more.
class GraphOwner {
 public:
  /// The identity of an owner as a key keeps it.
  /// Lifetime: may outlive the owner.
  class Id {
   public:
    Id() = default;
    /// Makes a new identity.
    explicit Id(std::string name);
    /// Returns the number; 0: none.
    std::uint64_t number() const;
    std::string_view name() const;
    bool operator==(const Id& other) const { return number() == other.number(); }
    auto operator<=>(const Id& other) const { return number() <=> other.number(); }

   private:
    std::shared_ptr<const std::pair<std::uint64_t, std::string>> identity_;  // number, name
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
/// equal if all members are. Leave out the device and the memory that was recorded: caches check
/// both.
struct GraphKey {
  GraphOwner::Id owner{};
  std::string tag{};                   // which pass of the owner
  std::vector<std::int64_t> bucket{};  // upper bounds of the shapes it serves
  std::uint64_t parameters = 0;        // hash_parameters(...) of what else is baked into the pass

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison with 0
  auto operator<=>(const GraphKey&) const = default;
  bool operator==(const GraphKey&) const = default;
  /// Returns "decode [64, 1] of 'llama' (owner 3), parameters 00000000000000ab".
  std::string text() const;
  /// Returns {"owner":"llama","owner_number":3,"tag":"decode","bucket":[64,1],"parameters":"..."}.
  std::string json() const;
};

namespace detail {
/// A parameter as text or bytes.
using Parameter = std::pair<bool, std::span<const std::byte>>;
template <class T>
Parameter parameter(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return {true, std::as_bytes(std::span(std::string_view(value)))};
  } else {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "numbers, enumerators and text");
    return {false, std::as_bytes(std::span(&value, 1))};
  }
}
std::uint64_t hash_of(std::initializer_list<Parameter> parameters);
}  // namespace detail

/// Returns a hash of the static parameters of a pass: numbers, enumerators and text, in order.
template <class... T>
std::uint64_t hash_parameters(const T&... values) {
  return detail::hash_of({detail::parameter(values)...});
}

}  // namespace reprise
