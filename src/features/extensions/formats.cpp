#include "features/extensions/formats.hpp"

#include <algorithm>
#include <array>

#include "base/cron.hpp"
#include "base/lower_case.hpp"

namespace agw {

namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
constexpr std::string_view argument_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,%/#+* ()";
constexpr std::array<std::string_view, 16> functions = {"rgb", "rgba",  "hsl",   "hsla",      "hwb",        "lab",
                                                        "lch", "color", "oklab", "color-mix", "light-dark", "oklch",
                                                        "var", "calc",  "min",   "max"};

bool only(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

bool is_hexadecimal_color(std::string_view text) {
  const auto digits = text.size();
  return only(text, hexadecimal) && (digits == 3 || digits == 4 || digits == 6 || digits == 8);
}

/// CSS does not tell capital letters from small ones.
bool is_color_function(std::string_view name) {
  return std::ranges::find(functions, lower_case(name)) != functions.end();
}

/// Whether each `(` follows the name of a colour function (or nothing, as in sums) and is closed.
bool calls_only_color_functions(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ')' && --open < 0) return false;
    if (text[i] != '(') continue;
    ++open;
    const auto before = text.substr(0, i);
    const auto name = before.substr(before.find_last_not_of(name_characters) + 1);
    if (!name.empty() && !is_color_function(name)) return false;
  }
  return open == 0;
}

}  // namespace

bool is_css_color(std::string_view text) {
  if (text.starts_with('#')) return is_hexadecimal_color(text.substr(1));
  if (only(text, letters)) return true;
  const auto name = text.substr(0, text.find('('));
  return text.ends_with(')') && is_color_function(name) && only(text, argument_characters) &&
         calls_only_color_functions(text);
}

std::optional<std::string> expected_format(std::string_view format, std::string_view text) {
  if (format == "css-color" && !is_css_color(text)) return "a CSS colour such as #1e1e2e, navy or rgb(30 30 46)";
  if (format == "cron") {
    if (const auto problem = cron_problem(text)) return "a cron expression: " + *problem;
  }
  if (format == "variable-name" && (text.empty() || text.find_first_of(std::string_view("=\0", 2)) != text.npos)) {
    return "the name of a variable, without =";
  }
  return std::nullopt;
}

}  // namespace agw
