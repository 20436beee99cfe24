#include "models/adjustments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

/// Shorter answers are of little use to programs that work with tools: they had better shorten the conversation.
constexpr std::int64_t min_answer_tokens = 1'024;
constexpr std::int64_t min_budget_tokens = 1'024;  // Anthropic's own
constexpr std::int64_t min_own_limit = 256;        // of a model: a smaller number means something else

/// The whole numbers of a text, largest first, without those of names such as `claude-3-haiku-20240307`.
std::vector<std::int64_t> whole_numbers(std::string_view text) {
  const auto at = [text](std::size_t place) { return place < text.size() ? text[place] : ' '; };
  const auto is_digit_at = [&](std::size_t place) { return at(place) >= '0' && at(place) <= '9'; };
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = begin;
    while (is_digit_at(end)) ++end;
    std::int64_t number = 0;
    const bool is_number =
        end > begin && std::from_chars(text.data() + begin, text.data() + end, number).ec == std::errc{};
    const char before = begin == 0 ? ' ' : text[begin - 1];
    const bool follows_name = is_alphanumeric(before) || before == '-' || before == '_' || before == '.';
    const bool goes_on = is_alphanumeric(at(end)) || at(end) == '-' || (at(end) == '.' && is_digit_at(end + 1));
    if (is_number && !follows_name && !goes_on) numbers.push_back(number);
    begin = std::max(end, begin + 1);
  }
  std::ranges::sort(numbers, std::greater());
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

/// The limit that a refusal of `limit` allows. Services name their own limit ("at most 16384"), or the window and the
/// input ("32000 > 32768 - 17459"), also with their total ("36000 tokens (4000 in the messages, 32000 in the
/// completion)").
std::optional<std::int64_t> allowed_limit(std::string_view refusal, std::int64_t limit) {
  const bool names_parameter =
      has_any(refusal, {"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"});
  if (!names_parameter && !has_any(refusal, {"completion", "output tokens", "in the output"})) return std::nullopt;
  auto numbers = whole_numbers(refusal);
  const bool names_limit = std::erase(numbers, limit) > 0;
  std::erase_if(numbers, [](std::int64_t number) { return number <= 1; });  // of a range
  if (numbers.size() == 1) return names_parameter ? std::optional(numbers[0]) : std::nullopt;
  if (numbers.size() < 2 || !names_limit) return std::nullopt;
  const auto window = numbers.size() == 2 ? numbers[0] : numbers[1];
  const auto input = numbers.size() == 2 ? numbers[1] : numbers[0] - limit;
  const auto left = window - input;
  return left >= min_answer_tokens ? std::optional(left) : std::nullopt;
}

/// Anthropic counts thinking towards the limit.
void fit_budget(json::object& request, std::int64_t limit) {
  auto* thinking = request.if_contains("thinking");
  auto* budget = thinking && thinking->is_object() ? thinking->get_object().if_contains("budget_tokens") : nullptr;
  if (!budget || budget->to_number<std::int64_t>() < limit) return;
  *budget = limit / 2;
  if (limit / 2 < min_budget_tokens) request.erase("thinking");
}

}  // namespace

bool fit_limit(json::object& request, std::string_view refusal) {
  for (const auto* name : {"max_tokens", "max_completion_tokens", "max_output_tokens"}) {
    auto* value = request.if_contains(name);
    if (!value || !value->is_int64()) continue;
    const auto limit = value->get_int64();
    const auto allowed = allowed_limit(refusal, limit);
    if (!allowed) return false;
    const bool is_lower = *allowed >= min_own_limit && *allowed < limit;
    // OpenAI's Responses take no limit below 16, with which programs try a key.
    const bool is_minimum = *allowed < min_own_limit && *allowed > limit && has_any(refusal, {"minimum"});
    if (!is_lower && !is_minimum) return false;
    *value = *allowed;
    fit_budget(request, *allowed);
    return true;
  }
  return false;
}

}  // namespace agw
