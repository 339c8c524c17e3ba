// Text of a file, for the debugger.
#pragma once
#include "reprise/core/printable.h"

namespace reprise::debugger {

using reprise::printable;

}  // namespace reprise::debugger
