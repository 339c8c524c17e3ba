#include "bench/op_call.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>
#include <sstream>

#include "framework/core/known_names.h"
#include "framework/core/op.h"
#include "reprise/core/encode.h"
#include "reprise/ops/op_named.h"
#include "reprise/ops/views.h"

namespace reprise::bench {
namespace {

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
  throw_invalid_argument("'", word, "' of a call ", why);
}

DType dtype_of(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (name_of(dtype) == name) {
      return dtype;
    }
    known += (known.empty() ? "" : ", ") + std::string(name_of(dtype));
  }
  refuse(name, "is no dtype; these are: " + known + ".");
}

/// "1,0,2" of "{1,0,2}".
std::vector<std::int64_t> numbers(std::string_view word, std::string_view list) {
  std::vector<std::int64_t> all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(list.data() + at, list.data() + end, value);
    if (error != std::errc() || stop != list.data() + end || value < 0) {
      refuse(word, "has a number (" + std::string(list.substr(at, end - at)) +
                       ") that is none; dimensions are written as f32[64,56].");
    }
    all.push_back(value);
    at = end + 1;
  }
  return all;
}

std::string_view between(std::string_view word, std::size_t from, char end) {
  if (word.empty() || word.back() != end) {
    refuse(word, "does not end with '" + std::string(1, end) + "'.");
  }
  return word.substr(from, word.size() - from - 1);
}

std::size_t bytes_of_attributes(const OpDef& op) {
  std::size_t end = 0;
  for (const Attribute& a : op.attributes) {
    end = std::max(end, a.offset + size_of(a.type));
  }
  return (end + 7) / 8 * 8;
}

template <class T>
T number(std::string_view word, std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    refuse(word, "has no such number.");
  }
  return value;
}

}  // namespace

OpText::OpText(std::string_view text) : text_(text) {
  std::istringstream words{text_};
  std::string word;
  words >> word;
  op_ = op_named(word);
  if (op_ == nullptr) {
    throw_error(ErrorCode::unknown_name, "There is no op (", word,
                "); `reprise ops` lists them all.");
  }
  attributes_.resize(bytes_of_attributes(*op_));
  for (const Attribute& a : op_->attributes) {
    if (a.type == AttributeType::param_i32 || a.type == AttributeType::param_f32) {
      const Param<float> constant(0.0F);
      std::memcpy(attributes_.data() + a.offset, &constant, sizeof constant);
    }
  }
  while (words >> word) {
    word.find('=') == std::string::npos ? add_operand(word) : set_attribute(word);
  }
  const auto needed = std::ranges::count(op_->operands, false, &reprise::Operand::optional);
  if (operands_.size() > op_->operands.size() || std::ssize(operands_) < needed) {
    throw_invalid_argument("The op ", op_->name, " takes ", needed, " to ", op_->operands.size(),
                           " operands, but (", operands_.size(), ") are given.");
  }
  operands_.resize(op_->operands.size(), {.absent = true, .dims = {}, .axes = {}});
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].absent && !op_->operands[i].optional) {
      refuse(op_->operands[i].name, "is no optional operand of " + std::string(op_->name) + ".");
    }
  }
}

void OpText::add_operand(std::string_view word) {
  Operand operand{.dims = {}, .axes = {}};
  if (word == "-") {
    operand.absent = true;
  } else {
    const std::size_t dims = word.find('['), axes = word.find('{');
    if (dims == std::string_view::npos) {
      refuse(word, "is neither an operand, f32[64,56], nor an attribute, stride=2.");
    }
    operand.dtype = dtype_of(word.substr(0, dims));
    operand.dims = numbers(word, between(word.substr(0, axes), dims + 1, ']'));
    if (axes != std::string_view::npos) {
      for (const std::int64_t axis : numbers(word, between(word, axes + 1, '}'))) {
        operand.axes.push_back(static_cast<std::size_t>(axis));
      }
    }
  }
  operands_.push_back(std::move(operand));
}

void OpText::set_attribute(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
  const auto a = std::ranges::find(op_->attributes, name, &Attribute::name);
  if (a == op_->attributes.end()) {
    throw_unknown_name("The op '" + std::string(op_->name) + "'", "attribute", name,
                       names_of(op_->attributes, &Attribute::name));
  }
  std::byte* const to = attributes_.data() + a->offset;
  if (a->type == AttributeType::f32 || a->type == AttributeType::param_f32) {
    const auto real = number<float>(word, value);
    std::memcpy(to, &real, sizeof real);
  } else if (a->type == AttributeType::boolean) {
    *to = static_cast<std::byte>(number<unsigned>(word, value) != 0);
  } else {
    const auto integer = name == "dtype" ? static_cast<std::int32_t>(dtype_of(value))
                                         : number<std::int32_t>(word, value);
    std::memcpy(to, &integer, sizeof integer);
  }
}

Tensor OpText::operand(const Device& device, std::size_t i, const TensorSpec& spec) const {
  const Shape& shape = spec.shape;
  const std::string name(op_->operands[i].name);
  const auto count = static_cast<std::size_t>(shape.elements());
  if (spec.dtype == DType::i32 || spec.dtype == DType::i64) {
    std::int64_t end = 8;
    if (op_->row_numbers.numbers == static_cast<std::int8_t>(i)) {
      const auto& table = operands_[static_cast<std::size_t>(op_->row_numbers.table)].dims;
      const auto dim = static_cast<std::size_t>(op_->row_numbers.dim < 0
                                                    ? std::ssize(table) + op_->row_numbers.dim
                                                    : op_->row_numbers.dim);
      end = dim < table.size() ? std::max<std::int64_t>(table[dim], 1) : end;
    }
    std::vector<std::byte> bytes(spec.bytes());
    const std::size_t size = bytes.size() / std::max<std::size_t>(count, 1);
    for (std::size_t n = 0; n < count; ++n) {  // different ones, but no run of neighbours
      const std::int64_t value = (static_cast<std::int64_t>(n) * 5 + 1) % end;
      std::memcpy(bytes.data() + n * size, &value, size);  // little-endian
    }
    return device.from_host(shape, spec.dtype, bytes, name);
  }
  const Encode encode = encoder_of(spec.dtype);
  if (encode == nullptr) {
    throw_error(ErrorCode::unsupported,
                "Operands are made of f32, f16, bf16, q8_0, q4_0 and integers, but '", name,
                "' is to be (", reprise::name_of(spec.dtype), ").");
  }
  constexpr std::size_t kDifferent = 65536;  // then they repeat: drawing them takes long
  std::mt19937 random(static_cast<unsigned>(i));
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) {
    values[n] = n < kDifferent ? normal(random) : values[n - kDifferent];
  }
  std::vector<std::byte> bytes(spec.bytes());
  encode(values.data(), count, bytes.data());
  return device.from_host(shape, spec.dtype, bytes, name);
}

std::vector<Tensor> OpText::operands(const Make& make) const {
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const auto& [absent, dtype, dims, axes] = operands_[i];
    if (absent) {
      all.emplace_back();
      continue;
    }
    const Tensor tensor = make(i, {Shape(std::span<const std::int64_t>(dims)), dtype});
    all.push_back(axes.empty() ? tensor : permute(tensor, axes));
  }
  return all;
}

std::vector<Tensor> OpText::operands(const Device& device) const {
  return operands([&](std::size_t i, const TensorSpec& spec) { return operand(device, i, spec); });
}

void OpText::record(GraphSession& session, const std::vector<Tensor>& operands) const {
  const Site site(session);
  const std::vector<TensorRef> inputs(operands.begin(), operands.end());
  std::vector<Tensor> results(op_->results.size());
  session.call({session, *op_, inputs, attributes_, site.where}, results);
}

}  // namespace reprise::bench
