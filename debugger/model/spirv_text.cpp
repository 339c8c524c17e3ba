#include "debugger/model/spirv_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <spirv-tools/libspirv.h>

#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kLongestName = 48, kLongestLine = 512;
constexpr std::size_t kResultWidth = 18;  // left of the "=" of an instruction

struct ContextDeleter {
  void operator()(spv_context context) const { spvContextDestroy(context); }
};
struct TextDeleter {
  void operator()(spv_text text) const { spvTextDestroy(text); }
};
struct DiagnosticDeleter {
  void operator()(spv_diagnostic diagnostic) const { spvDiagnosticDestroy(diagnostic); }
};

/// The number after the '%' at `at`; nothing if there is none.
std::optional<std::uint32_t> id_at(std::string_view line, std::size_t at, std::size_t& end) {
  std::uint32_t id = 0;
  const char* const first = line.data() + at + 1;
  const auto [last, error] = std::from_chars(first, line.data() + line.size(), id);
  end = static_cast<std::size_t>(last - line.data());
  return error == std::errc() ? std::optional(id) : std::nullopt;
}

/// Words of a line, whose strings are not looked into: at most the first seven.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() < 7) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      break;
    }
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  return words;
}

/// A name as code could have it.
std::string plain_name(std::string_view quoted) {
  std::string name;
  for (const char c : quoted.substr(0, kLongestName)) {
    const bool letter =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (c != '"') {
      name += letter ? c : '_';
    }
  }
  return name;
}

/// What OpName and OpDecorate say about ids.
class Names {
 public:
  explicit Names(const std::vector<std::string_view>& lines) {
    std::map<std::string, std::uint32_t> uses;
    std::string_view workgroup;  // the constant that is the size of one
    for (const std::string_view line : lines) {
      const auto words = words_of(line);
      if (words.size() == 7 && words[0] == workgroup && words[2] == "OpSpecConstantComposite") {
        name_workgroup(words[4], words[5], words[6]);
      }
      std::size_t end = 0;
      if (words.size() < 3 || words[1].front() != '%') {
        continue;
      }
      const auto id = id_at(words[1], 0, end);
      if (id && words[0] == "OpName") {
        const std::string name = plain_name(words[2]);
        if (!name.empty() && names_.emplace(*id, name).second) {
          ++uses[name];
        }
      } else if (id && words.size() == 4 && words[0] == "OpDecorate" && words[2] == "SpecId") {
        std::uint32_t number = 0;
        std::from_chars(words[3].data(), words[3].data() + words[3].size(), number);
        constants_.emplace(number, *id);
      } else if (id && words.size() == 4 && words[2] == "BuiltIn" && words[3] == "WorkgroupSize") {
        workgroup = words[1];
      }
    }
    for (auto& [id, name] : names_) {
      const bool number = name.front() >= '0' && name.front() <= '9';
      name += uses[name] > 1 || number ? "_" + std::to_string(id) : "";
    }
  }
  std::string of(std::uint32_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::to_string(id) : found->second;
  }
  std::vector<SpirvConstant> constants() const {
    std::vector<SpirvConstant> found;
    for (const auto& [number, id] : constants_) {
      const auto of_workgroup = sizes_.find(id);
      found.push_back({number, names_.contains(id)            ? of(id)
                               : of_workgroup != sizes_.end() ? of_workgroup->second
                                                              : ""});
    }
    return found;
  }

 private:
  void name_workgroup(std::string_view x, std::string_view y, std::string_view z) {
    std::size_t end = 0;
    for (const auto& [word, name] :
         {std::pair(x, "workgroup x"), std::pair(y, "workgroup y"), std::pair(z, "workgroup z")}) {
      if (const auto id = word.front() == '%' ? id_at(word, 0, end) : std::nullopt) {
        sizes_.emplace(*id, name);
      }
    }
  }

  std::unordered_map<std::uint32_t, std::string> names_, sizes_;
  std::map<std::uint32_t, std::uint32_t> constants_;  // ids by number
};

std::string with_names(std::string_view line, const Names& names) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size() && text.size() < kLongestLine;) {
    std::size_t end = i + 1;
    const auto id = !quoted && line[i] == '%' ? id_at(line, i, end) : std::nullopt;
    if (id) {
      text += "%" + names.of(*id);
    } else {
      end = quoted && line[i] == '\\' ? std::min(i + 2, line.size()) : i + 1;
      quoted = quoted != (line[i] == '"');
      text += line.substr(i, end - i);
    }
    i = end;
  }
  return text;
}

/// What an instruction makes stands left of its "=", all of them below each other.
std::string aligned(const std::string& line) {
  const std::size_t equals = line.starts_with('%') ? line.find(" = ") : std::string::npos;
  if (line.starts_with(';')) {
    return line;
  }
  if (equals == std::string::npos) {
    return std::string(kResultWidth + 3, ' ') + line;
  }
  return std::string(equals < kResultWidth ? kResultWidth - equals : 0, ' ') + line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

SpirvText failed(std::string problem) { return {{}, {}, std::move(problem)}; }

}  // namespace

SpirvText spirv_text(std::span<const std::byte> code) {
  if (code.empty()) {
    return failed("There is no code.");
  }
  if (code.size() > kMaxSpirvBytes || code.size() % 4 != 0) {
    return failed("This is no SPIR-V that can be shown: it has (" + std::to_string(code.size()) +
                  ") bytes, not a multiple of 4 of at most 1 MiB.");
  }
  std::vector<std::uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), code.size());
  const std::unique_ptr<spv_context_t, ContextDeleter> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6));
  spv_text raw = nullptr;
  spv_diagnostic why = nullptr;
  const spv_result_t result = spvBinaryToText(context.get(), words.data(), words.size(),
                                              SPV_BINARY_TO_TEXT_OPTION_NONE, &raw, &why);
  const std::unique_ptr<spv_text_t, TextDeleter> text(raw);
  const std::unique_ptr<spv_diagnostic_t, DiagnosticDeleter> diagnostic(why);
  if (result != SPV_SUCCESS || text == nullptr) {
    return failed("This is no SPIR-V: " +
                  (diagnostic != nullptr && diagnostic->error != nullptr
                       ? printable(std::string_view(diagnostic->error).substr(0, 200))
                       : "SPIRV-Tools says error " + std::to_string(result)) +
                  ".");
  }
  const auto lines = lines_of({text->str, text->length});
  const Names names(lines);
  SpirvText found;
  found.constants = names.constants();
  for (const std::string_view line : lines) {
    found.lines.push_back(aligned(printable(with_names(line, names))));
  }
  return found;
}

}  // namespace reprise::debugger
