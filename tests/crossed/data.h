// The numbers of a program: weights, what tables begin with, and what each round brings. They are
// numbers that the formats have, so that host and device begin with the same.
#pragma once
#include "tests/crossed/array.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {

/// Of weights, tables and arrays that stay; of inputs and arrays of the host, those of a round.
Array data_of(Leaf leaf, const Program& program, const Round& round);
/// What a round is given in the place of what is there.
Array given_data(Leaf leaf, const Program& program, const Round& round);
/// As a device keeps it.
std::vector<std::byte> bytes_of(Kind kind, const std::vector<double>& values);
std::vector<double> values_of(Kind kind, const std::vector<std::byte>& bytes);

}  // namespace reprise::crossed
