// StepStamps: timestamps behind the steps of a direct session, of which nobody knows how many will
// come. They are taken in sets, which are kept between sessions.
#pragma once
#include <vector>

#include "reprise/backend/backend.h"
#include "reprise/session/device.h"

namespace reprise {

/// Used by one session at a time. Not thread-safe.
class StepStamps {
 public:
  static constexpr std::uint32_t kSetSize = 1024;

  /// Begins with the first set again. What was submitted with them must be complete.
  void restart() { taken_ = resolved_ = 0; }
  /// Takes the next timestamp; allocates a set when the last one is full.
  void take(const Device& device, Encoder& encoder);
  /// Copies to the host what was taken since the last call, with an encoder that ends the encoding.
  void resolve(Encoder& encoder);
  /// Returns all that were taken, once they are complete.
  std::vector<std::uint64_t> ticks() const;

 private:
  struct Set {
    std::shared_ptr<Timestamps> stamps;
    std::shared_ptr<Buffer> host;
  };
  std::vector<Set> sets_;
  std::uint32_t taken_ = 0, resolved_ = 0;
};

}  // namespace reprise
