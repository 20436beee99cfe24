#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace agw {

/// The number that `text` consists of; nullopt if it is something else, or does not fit. `format` is the base of an
/// integer, 10 by default, or the std::chars_format.
template <class Number>
std::optional<Number> parse_number(std::string_view text, auto... format) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, format...);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The TCP port that `text` consists of, from 1 to 65535; nullopt otherwise.
inline std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

}  // namespace agw
