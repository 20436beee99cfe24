#include <algorithm>
#include <array>

#include "base/containers.hpp"
#include "base/cron.hpp"
#include "base/text/utf8.hpp"
#include "features/extensions/schemas.hpp"

namespace agw {

namespace {

constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
constexpr std::string_view argument_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,%/#+* ()";
constexpr std::array<std::string_view, 16> functions = {"rgb", "rgba",  "hsl",   "hsla",      "hwb",        "lab",
                                                        "lch", "color", "oklab", "color-mix", "light-dark", "oklch",
                                                        "var", "calc",  "min",   "max"};

/// The named and system colours, sorted (CSS Color Module Level 4, 6.1 to 6.4).
// clang-format off
constexpr std::array<std::string_view, 169> color_names = {
    "accentcolor", "accentcolortext", "activetext", "aliceblue", "antiquewhite", "aqua", "aquamarine", "azure",
    "beige", "bisque", "black", "blanchedalmond", "blue", "blueviolet", "brown", "burlywood", "buttonborder",
    "buttonface", "buttontext", "cadetblue", "canvas", "canvastext", "chartreuse", "chocolate", "coral",
    "cornflowerblue", "cornsilk", "crimson", "currentcolor", "cyan", "darkblue", "darkcyan", "darkgoldenrod",
    "darkgray", "darkgreen", "darkgrey", "darkkhaki", "darkmagenta", "darkolivegreen", "darkorange", "darkorchid",
    "darkred", "darksalmon", "darkseagreen", "darkslateblue", "darkslategray", "darkslategrey", "darkturquoise",
    "darkviolet", "deeppink", "deepskyblue", "dimgray", "dimgrey", "dodgerblue", "field", "fieldtext", "firebrick",
    "floralwhite", "forestgreen", "fuchsia", "gainsboro", "ghostwhite", "gold", "goldenrod", "gray", "graytext",
    "green", "greenyellow", "grey", "highlight", "highlighttext", "honeydew", "hotpink", "indianred", "indigo",
    "ivory", "khaki", "lavender", "lavenderblush", "lawngreen", "lemonchiffon", "lightblue", "lightcoral",
    "lightcyan", "lightgoldenrodyellow", "lightgray", "lightgreen", "lightgrey", "lightpink", "lightsalmon",
    "lightseagreen", "lightskyblue", "lightslategray", "lightslategrey", "lightsteelblue", "lightyellow", "lime",
    "limegreen", "linen", "linktext", "magenta", "mark", "marktext", "maroon", "mediumaquamarine", "mediumblue",
    "mediumorchid", "mediumpurple", "mediumseagreen", "mediumslateblue", "mediumspringgreen", "mediumturquoise",
    "mediumvioletred", "midnightblue", "mintcream", "mistyrose", "moccasin", "navajowhite", "navy", "oldlace",
    "olive", "olivedrab", "orange", "orangered", "orchid", "palegoldenrod", "palegreen", "paleturquoise",
    "palevioletred", "papayawhip", "peachpuff", "peru", "pink", "plum", "powderblue", "purple", "rebeccapurple",
    "red", "rosybrown", "royalblue", "saddlebrown", "salmon", "sandybrown", "seagreen", "seashell", "selecteditem",
    "selecteditemtext", "sienna", "silver", "skyblue", "slateblue", "slategray", "slategrey", "snow", "springgreen",
    "steelblue", "tan", "teal", "thistle", "tomato", "transparent", "turquoise", "violet", "visitedtext", "wheat",
    "white", "whitesmoke", "yellow", "yellowgreen"};
// clang-format on
static_assert(std::ranges::is_sorted(color_names));

bool only(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

bool is_hexadecimal_color(std::string_view text) {
  const auto digits = text.size();
  return only(text, hexadecimal) && (digits == 3 || digits == 4 || digits == 6 || digits == 8);
}

// CSS ignores the case of names.

bool is_color_name(std::string_view text) { return std::ranges::binary_search(color_names, lower_case(text)); }

bool is_color_function(std::string_view name) { return contains(functions, lower_case(name)); }

/// Whether each `(` is closed, and follows the name of a colour function or, as in sums, no name.
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
  if (is_color_name(text)) return true;
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
