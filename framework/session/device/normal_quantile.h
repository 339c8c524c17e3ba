// The quantile of the standard normal distribution, the same bits on every machine.
#pragma once

namespace reprise {

/// x with P(X <= x) = p. p: from 2^-33 to 1 - 2^-33. Relative error below 1e-14.
double normal_quantile(double p);

}  // namespace reprise
