// The commands of `reprise`. Each prints to stdout and throws reprise::Error for failures.
#pragma once
#include <string>

namespace reprise::cli {

void print_devices(bool json);
void print_db_info(const std::string& path, bool json);

}  // namespace reprise::cli
