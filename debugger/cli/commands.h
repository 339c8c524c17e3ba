// The commands of `reprise`. Each prints to stdout and throws reprise::Error for failures.
#pragma once
#include <filesystem>
#include <string>

#include "debugger/cli/listing.h"
#include "framework/profile/profile_reader.h"

namespace reprise::cli {

void print_devices(bool json);
/// A table in Markdown: docs/ops.md is what this prints.
void print_ops(bool json);
/// Whether every device passed.
bool print_doctor(bool json);
/// A path that ends in .safetensors, or .json for an index of such files, or else of a GGUF file.
void print_model_info(const std::filesystem::path& path, Format format);
void print_db_info(const std::string& path, bool json);
void print_top_nodes(const std::string& path, const TopNodesQuery& query, bool json);
void print_nodes(const std::string& path, std::optional<std::int64_t> graph, bool json);
void print_passes(const std::string& path, std::optional<std::int64_t> graph, bool json);
void print_replays(const std::string& path, std::size_t limit, bool json);

}  // namespace reprise::cli
