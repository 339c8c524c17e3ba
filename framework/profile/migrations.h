// Files of older versions of the schema become files of this one.
#pragma once
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Inside a transaction of the caller. Rows stay; views are those of this version afterwards. Does
/// nothing to a file of this version.
void migrate(Database& database);

}  // namespace reprise::profile
