#include "features/research/metric.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw {

namespace {

constexpr std::string_view keyword = "METRIC";
constexpr std::size_t max_line_length = 4096;
constexpr std::size_t max_metric_length = 64;
constexpr std::size_t max_unit_length = 32;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= max_metric_length && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '/' || c == ':';
  });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    const auto size = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

struct Number {
  double value = 0;
  std::string_view suffix;
};

std::optional<Number> number_at_front(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc() || !std::isfinite(number.value)) return std::nullopt;
  number.suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool has_second_digit(std::string_view text, int (*is_digit)(int)) {
  return text.size() > 1 && is_digit(static_cast<unsigned char>(text[1])) != 0;
}

/// Whether text directly after a number continues the number, as in `1,5`, `1_000`, `0x10`, instead of being its unit.
bool continues_after(std::string_view value, std::string_view suffix) {
  if (suffix.empty()) return false;
  const auto next = static_cast<unsigned char>(suffix.front());
  const bool begins_unit = std::string_view("%/$").find(suffix.front()) != std::string_view::npos;
  if (std::ispunct(next) && !begins_unit) return true;
  const auto number = value.substr(0, value.size() - suffix.size());
  if (number != "0" && number != "+0" && number != "-0") return false;
  if (next == 'x' || next == 'X') return has_second_digit(suffix, std::isxdigit);
  return std::string_view("bBoO").find(suffix.front()) != std::string_view::npos &&
         has_second_digit(suffix, std::isdigit);
}

/// The number if the whole word is a number, optionally followed by a unit.
std::optional<Number> value_of(std::string_view word) {
  auto number = number_at_front(word);
  if (number && continues_after(word, number->suffix)) return std::nullopt;
  return number;
}

void take_unit(Metric& metric, std::string_view unit) {
  if (!unit.empty()) metric.unit = to_utf8(unit.substr(0, max_unit_length));
}

void take_remark(Metric& metric, std::string_view word) {
  constexpr std::string_view unit = "unit=";
  if (word.starts_with(unit)) take_unit(metric, word.substr(unit.size()));
  if (word == "better=lower") metric.higher_is_better = false;
}

}  // namespace

void MetricReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = std::min(bytes.find('\n'), bytes.size());
    if (line_.size() + size > max_line_length)
      line_is_too_long_ = true;
    else
      line_ += bytes.substr(0, size);
    AGW_ASSERT(line_.size() <= max_line_length);
    if (size == bytes.size()) return;
    take_line();
    bytes.remove_prefix(size + 1);
  }
}

void MetricReader::finish() { take_line(); }

void MetricReader::take_line() {
  const auto line = std::exchange(line_, {});
  if (std::exchange(line_is_too_long_, false) || !line.starts_with(keyword)) return;
  const auto words = words_of(line);
  if (words.size() < 2 || words.front() != keyword) return;
  const auto equals = words[1].find('=');
  if (equals == words[1].npos || !is_name(words[1].substr(0, equals))) return;
  const auto name = words[1].substr(0, equals);
  if (!name_.empty() && name != name_) return;
  name_ = name;
  const auto value = words[1].substr(equals + 1);
  const auto number = value_of(value);
  bad_value_ = number ? "" : std::string(value);
  metric_.reset();
  if (!number) return;
  metric_ = Metric{.name = name_, .value = number->value};
  take_unit(*metric_, number->suffix);
  for (auto word = words.begin() + 2; word != words.end(); ++word) take_remark(*metric_, *word);
  AGW_ASSERT(std::isfinite(metric_->value));
  AGW_ASSERT(metric_->name == name_);
}

std::string MetricReader::problem() const {
  if (metric_) return {};
  if (name_.empty()) return "the benchmark printed no line METRIC name=value";
  return "the benchmark's " + name_ + " is no number: " + to_utf8(bad_value_);
}

std::optional<double> read_score(std::string_view answer) {
  for (std::size_t at = 0; at < answer.size(); ++at) {
    const bool begins = std::isdigit(static_cast<unsigned char>(answer[at])) || answer[at] == '.';
    if (!begins) continue;
    const auto number = number_at_front(answer.substr(at));
    if (!number) continue;
    const bool is_negative = at > 0 && answer[at - 1] == '-';
    if (number->value >= 0 && number->value <= 1 && !is_negative) return number->value;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace agw
