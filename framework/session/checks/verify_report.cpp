#include <algorithm>

#include "framework/session/device/value_text.h"
#include "reprise/session/verify.h"

namespace reprise {
namespace {

std::string text_of(const char* run, const std::optional<VerifyDifference>& d) {
  if (!d) {
    return "";
  }
  return std::string("; ") + run + " differs in " + std::to_string(d->count) +
         " elements by at most " + decimal(d->max_abs) + ", first in element " +
         std::to_string(d->element) + ": (" + d->expected + ") in the direct run, (" + d->actual +
         ") there";
}

}  // namespace

bool VerifyReport::equal() const { return std::ranges::all_of(tensors, &VerifiedTensor::equal); }

std::string VerifyReport::text() const {
  const auto unequal = std::ranges::count(tensors, false, &VerifiedTensor::equal);
  const std::string all = std::to_string(tensors.size());
  std::string text = "'" + name + "', " + all + " outputs and written tensors: ";
  text += unequal == 0 ? "equal bit for bit" : std::to_string(unequal) + " differ";
  for (const VerifiedTensor& t : tensors) {
    if (!t.equal()) {
      text += "\n" + t.name + " " + to_string(t.spec) + (t.mismatch.empty() ? "" : "; ") +
              t.mismatch + text_of("the first run", t.first_run) + text_of("a replay", t.replay);
    }
  }
  return text;
}

}  // namespace reprise
