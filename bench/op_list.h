// The calls that `reprise-bench op` measures without a model.
#pragma once
#include <span>
#include <string_view>

namespace reprise::bench {

/// One call or more of every op that a pass calls.
std::span<const char* const> op_list();
/// Ops that none of them are: why not.
std::string_view why_not_listed(std::string_view op);

}  // namespace reprise::bench
