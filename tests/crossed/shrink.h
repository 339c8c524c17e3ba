// Makes a failing program smaller while it fails.
#pragma once
#include <functional>

#include "tests/crossed/program.h"

namespace reprise::crossed {

/// `fails` is asked of programs that may be run, at most `attempts` times.
Program shrink(const Program& program, const std::function<bool(const Program&)>& fails,
               int attempts = 600);

}  // namespace reprise::crossed
