#include "tests/golden_runner/case_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "reprise/core/error.h"

namespace golden {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30U;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30U;
constexpr std::size_t kMaxName = 200;  // std::regex recurses once per character
constexpr std::uint64_t kAlignment = 64;

template <class Bytes>
Bytes read_file(const std::filesystem::path& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  std::ifstream file;
  if (!failure) {  // a pipe has no size, and would wait for a writer
    file.open(path, std::ios::binary);
  }
  if (failure || !file) {
    throw reprise::Error(reprise::ErrorCode::io, "Cannot read the file '" + path.string() + "'.");
  }
  if (size > kMaxBytes) {
    reprise::throw_invalid_argument("The file '" + path.string() + "' has (" +
                                    std::to_string(size) + ") bytes, but at most " +
                                    std::to_string(kMaxBytes) + " are read.");
  }
  Bytes bytes(static_cast<std::size_t>(size), {});
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size) {
    throw reprise::Error(reprise::ErrorCode::io, "Cannot read all of '" + path.string() + "'.");
  }
  return bytes;
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

template <class T>
T number(const std::string& text, T low, T high) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || !(value >= low) ||
      !(value <= high)) {
    reprise::throw_invalid_argument("A number is (" + text + "), but must be " +
                                    std::to_string(low) + " to " + std::to_string(high) + ".");
  }
  return value;
}

std::string name_field(const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c > ' ' && static_cast<unsigned char>(c) < 127; });
  if (text.empty() || text.size() > kMaxName || !plain) {
    reprise::throw_invalid_argument("A name has (" + std::to_string(text.size()) +
                                    ") characters, but needs 1 to " + std::to_string(kMaxName) +
                                    ", printable ones without blanks.");
  }
  return text;
}

void expect_fields(const std::vector<std::string>& fields, std::size_t count) {
  if (fields.size() != count) {
    reprise::throw_invalid_argument("It has (" + std::to_string(fields.size()) +
                                    ") fields, but needs " + std::to_string(count) + ".");
  }
}

GoldenTensor read_tensor(const std::vector<std::string>& fields, std::span<const std::byte> blob) {
  expect_fields(fields, 10);
  GoldenTensor tensor;
  tensor.name = name_field(fields[2]);
  const auto dtype = reprise::dtype_named(fields[3]);
  if (!dtype) {
    reprise::throw_invalid_argument("The dtype is (" + name_field(fields[3]) +
                                    "), which is unknown.");
  }
  tensor.dtype = *dtype;
  const auto& info = reprise::info_of(tensor.dtype);
  // No tensor has more elements than the blob has bits, so the product stays far from overflow.
  const std::int64_t most_elements = static_cast<std::int64_t>(kMaxBytes) * 8;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < 4; ++i) {
    tensor.ne[i] = number<std::int64_t>(fields[4 + i], 1, kMaxExtent);
    if (tensor.ne[i] > most_elements / elements) {
      reprise::throw_invalid_argument("The tensor '" + tensor.name +
                                      "' has more elements than any file holds.");
    }
    elements *= tensor.ne[i];
  }
  const auto offset = number<std::uint64_t>(fields[8], 0, kMaxBytes);
  const auto bytes = number<std::uint64_t>(fields[9], 1, kMaxBytes);
  const std::uint64_t wanted =
      reprise::bytes_of(tensor.dtype, static_cast<std::uint64_t>(elements));
  if (bytes != wanted || tensor.ne[0] % info.block_elements != 0) {
    reprise::throw_invalid_argument("The tensor '" + tensor.name + "' has (" +
                                    std::to_string(bytes) + ") bytes, but its extents ask for " +
                                    std::to_string(wanted) + " in rows of whole blocks.");
  }
  if (offset % kAlignment != 0 || offset > blob.size() || bytes > blob.size() - offset) {
    reprise::throw_invalid_argument("The tensor '" + tensor.name + "' lies at (" +
                                    std::to_string(offset) +
                                    "), but must be 64-byte aligned and inside the blob of " +
                                    std::to_string(blob.size()) + " bytes.");
  }
  tensor.bytes = blob.subspan(offset, bytes);
  return tensor;
}

GoldenCase read_header(const std::vector<std::string>& fields) {
  expect_fields(fields, 7);
  GoldenCase c;
  c.name = name_field(fields[1]);
  c.op = name_field(fields[2]);
  c.tier = name_field(fields[3]);
  c.compare = name_field(fields[4]);
  c.tol = number<double>(fields[5], 0, 1);
  if (fields[6] != "-") {
    c.tol_vs_exact = number<double>(fields[6], 0, 1);
  }
  return c;
}

void read_line(std::string_view line, GoldenSet& set) {
  if (line.empty() || line.starts_with('#')) {
    return;
  }
  const std::string_view kind = line.substr(0, 2);
  if (kind == "C\t") {
    set.cases.push_back(read_header(split(line)));
    return;
  }
  if (set.cases.empty() || (kind != "P\t" && kind != "T\t")) {
    reprise::throw_invalid_argument("It must begin with C, or with P or T after a case.");
  }
  GoldenCase& c = set.cases.back();
  if (kind == "P\t") {
    c.params = nlohmann::json::parse(line.substr(2), nullptr, false);
    if (!c.params.is_object()) {
      reprise::throw_invalid_argument("The parameters are not a JSON object.");
    }
    return;
  }
  const std::vector<std::string> fields = split(line);
  GoldenTensor tensor = read_tensor(fields, set.blob);
  if (fields[1] == "in") {
    c.inputs.push_back(std::move(tensor));
  } else if (fields[1] == "out") {
    c.outputs.push_back(std::move(tensor));
  } else if (fields[1] == "exact") {
    c.exact = std::move(tensor);
  } else {
    reprise::throw_invalid_argument("A tensor's role is (" + name_field(fields[1]) +
                                    "), but must be in, out or exact.");
  }
}

void check_case(const GoldenCase& c) {
  if (c.outputs.empty()) {
    reprise::throw_invalid_argument("The case '" + c.name + "' has no output.");
  }
  if (c.exact.has_value() != c.tol_vs_exact.has_value()) {
    reprise::throw_invalid_argument("The case '" + c.name +
                                    "' has only one of an exact output and its tolerance.");
  }
  if (c.exact && c.exact->ne != c.outputs[0].ne) {
    reprise::throw_invalid_argument("The case '" + c.name +
                                    "' has an exact output of another shape.");
  }
}

const GoldenTensor* find(const std::vector<GoldenTensor>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &GoldenTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

const GoldenTensor& require(const GoldenTensor* tensor, const std::string& what) {
  if (tensor == nullptr) {
    reprise::throw_invalid_argument("The case has no " + what + ".");
  }
  return *tensor;
}

const nlohmann::json& param(const GoldenCase& c, const std::string& key) {
  const auto found = c.params.find(key);
  if (found == c.params.end()) {
    reprise::throw_invalid_argument("The case has no parameter '" + key + "'.");
  }
  return *found;
}

std::int64_t integer_of(const nlohmann::json& value, const std::string& key, std::int64_t low,
                        std::int64_t high) {
  if (!value.is_number_integer() || value > high || value < low) {
    reprise::throw_invalid_argument("The parameter '" + key + "' must be an integer from " +
                                    std::to_string(low) + " to " + std::to_string(high) + ".");
  }
  return value.get<std::int64_t>();
}

}  // namespace

reprise::Shape GoldenTensor::shape(std::size_t min_rank) const {
  std::size_t rank = 4;
  while (rank > min_rank && ne[rank - 1] == 1) {
    --rank;
  }
  std::array<std::int64_t, 4> dims{};
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = ne[rank - 1 - i];
  }
  return reprise::Shape(std::span<const std::int64_t>(dims.data(), rank));
}

const GoldenTensor& GoldenCase::input(const std::string& wanted) const {
  return require(find_input(wanted), "input '" + wanted + "'");
}

const GoldenTensor* GoldenCase::find_input(const std::string& wanted) const {
  return find(inputs, wanted);
}

const GoldenTensor& GoldenCase::output(const std::string& wanted) const {
  return require(find(outputs, wanted), "output '" + wanted + "'");
}

float GoldenCase::real(const std::string& key) const {
  const nlohmann::json& value = param(*this, key);
  if (!value.is_number() ||
      !(std::abs(value.get<double>()) <= static_cast<double>(std::numeric_limits<float>::max()))) {
    reprise::throw_invalid_argument("The parameter '" + key +
                                    "' must be a number that f32 can hold.");
  }
  return static_cast<float>(value.get<double>());
}

std::int64_t GoldenCase::integer(const std::string& key, std::int64_t low,
                                 std::int64_t high) const {
  return integer_of(param(*this, key), key, low, high);
}

std::string GoldenCase::text(const std::string& key) const {
  const nlohmann::json& value = param(*this, key);
  if (!value.is_string()) {
    reprise::throw_invalid_argument("The parameter '" + key + "' must be a string.");
  }
  return value.get<std::string>();
}

std::array<std::int64_t, 4> GoldenCase::extents(const std::string& key, std::int64_t low,
                                                std::int64_t high) const {
  const nlohmann::json& value = param(*this, key);
  if (!value.is_array() || value.size() != 4) {
    reprise::throw_invalid_argument("The parameter '" + key + "' must be an array of 4 integers.");
  }
  std::array<std::int64_t, 4> result{};
  std::ranges::transform(value, result.begin(),
                         [&](const nlohmann::json& v) { return integer_of(v, key, low, high); });
  return result;
}

GoldenSet load_set(const std::filesystem::path& folder) {
  GoldenSet set;
  set.blob = read_file<std::vector<std::byte>>(folder / "golden.bin");
  const auto table = read_file<std::string>(folder / "cases.tsv");
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    ++line_number;
    try {
      read_line(std::string_view(table).substr(begin, end - begin), set);
    } catch (const reprise::Error& e) {
      reprise::throw_invalid_argument("Line (" + std::to_string(line_number) + ") of '" +
                                      (folder / "cases.tsv").string() +
                                      "' is malformed: " + e.what());
    }
    begin = end + 1;
  }
  std::ranges::for_each(set.cases, check_case);
  return set;
}

}  // namespace golden
