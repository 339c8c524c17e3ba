#include "samples/llama/hyperparameters.h"

#include <sstream>

#include "reprise/core/error.h"

namespace llama {
namespace {

constexpr std::int64_t kMaxOfAnything = std::int64_t{1} << 24U;

std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

Hyperparameters::Hyperparameters(const reprise::GgufFile& file)
    : file_(file), architecture_(file.value("general.architecture").as_string()) {}

std::string Hyperparameters::key(std::string_view name) const {
  return architecture_ + "." + std::string(name);
}

const reprise::GgufValue* Hyperparameters::find(std::string_view name) const {
  return file_.find_value(key(name));
}

std::int64_t Hyperparameters::count(std::string_view name) const {
  return file_.value(key(name)).as_integer(1, kMaxOfAnything);
}

std::int64_t Hyperparameters::count_or(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? count(name) : otherwise;
}

float Hyperparameters::real(std::string_view name, float min, float max) const {
  const double value = file_.value(key(name)).as_real();
  if (!(value >= static_cast<double>(min) && value <= static_cast<double>(max))) {
    refuse(name, text_of(value),
           "must be from " + text_of(static_cast<double>(min)) + " to " +
               text_of(static_cast<double>(max)));
  }
  return static_cast<float>(value);
}

float Hyperparameters::real_or(std::string_view name, float otherwise, float min, float max) const {
  return has(name) ? real(name, min, max) : otherwise;
}

std::string_view Hyperparameters::text_or(std::string_view name, std::string_view otherwise) const {
  const reprise::GgufValue* value = find(name);
  return value == nullptr ? otherwise : value->as_string();
}

void Hyperparameters::refuse(std::string_view name, const std::string& value,
                             const std::string& allowed) const {
  reprise::throw_invalid_argument("The metadata value '" + key(name) + "' of the GGUF file '" +
                                  file_.path() + "' is (" + value + "), but " + allowed + ".");
}

}  // namespace llama
