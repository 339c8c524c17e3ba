#include "reprise/graph/hazards.h"

namespace reprise {

bool HazardTracker::step(std::uint32_t index, std::span<const Touch> touches) {
  bool wait = false;
  for (const Touch& t : touches) {
    const Segment* s =
        t.range.begin == t.range.end ? nullptr : map_.find(t.range, !writes(t.access));
    if (s != nullptr) {
      const HazardKind kind = s->written == 0   ? HazardKind::war
                              : reads(t.access) ? HazardKind::raw
                                                : HazardKind::waw;
      barriers_.push_back({index, s->step, t.range, kind});
      map_.clear();
      wait = true;
      break;
    }
  }
  for (const Touch& t : touches) {  // writes first: a read inside them adds nothing
    if (writes(t.access)) {
      map_.fill(t.range, index, true);
    }
  }
  for (const Touch& t : touches) {
    if (!writes(t.access)) {
      map_.fill(t.range, index, false);
    }
  }
  return wait;
}

void HazardTracker::reset() {
  map_.clear();
  barriers_.clear();
}

}  // namespace reprise
