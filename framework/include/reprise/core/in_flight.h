// InFlight: the encodings a queue has to keep because the device may still run them. A ring that
// grows to the largest number in flight and then allocates nothing. Not thread-safe: the queue
// guards it with its mutex.
#pragma once
#include <span>
#include <vector>

#include "reprise/core/backend.h"

namespace reprise {

class InFlight {
 public:
  /// Makes room, so that the next add() of as many encodings cannot fail.
  void reserve(std::size_t encodings);
  /// `submission` grows from call to call.
  void add(std::uint64_t submission, std::span<const EncodingRef> encodings) noexcept;
  /// Hands over what is kept up to and including `submission`, at most as much as fits. The caller
  /// lets go of it without the queue's mutex: owners of imported memory run code of the user then.
  std::size_t take(std::uint64_t submission, std::span<EncodingRef> retired);
  /// Calls f(const Encoding&) for the encodings of one submission, in order.
  template <class F>
  void visit(std::uint64_t submission, F&& f) const {
    for (std::size_t i = 0; i < count_ && at(i).submission <= submission; ++i) {
      if (at(i).submission == submission) {
        f(*at(i).encoding);
      }
    }
  }
  /// See Backend::last_use.
  std::uint64_t last_use(const Buffer& buffer, Access access) const;

 private:
  struct Entry {
    std::uint64_t submission = 0;
    EncodingRef encoding;
  };
  Entry& at(std::size_t i) { return ring_[(first_ + i) % ring_.size()]; }
  const Entry& at(std::size_t i) const { return ring_[(first_ + i) % ring_.size()]; }
  void grow();

  std::vector<Entry> ring_ = std::vector<Entry>(32);
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace reprise
