#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include "base/json/bounded_json.hpp"
#include "base/json/json.hpp"

namespace agw {

namespace {

/// Reuses an error that cannot occur otherwise: no text reaches Boost's own limit for arrays.
constexpr auto too_many_values = json::error::array_too_large;

/// Builds a value like Boost.JSON's own parser, except for doubles. Boost computes them from rounded powers of ten, so
/// a number would change slightly each time it is read, and accepts `1e400` as infinity.
class ValueBuilder {
public:
  static constexpr auto max_object_size = json::object::max_size();
  static constexpr auto max_array_size = json::array::max_size();
  static constexpr auto max_key_size = json::string::max_size();
  static constexpr auto max_string_size = json::string::max_size();

  using Error = boost::system::error_code;
  using Text = json::string_view;

  ValueBuilder(unsigned char* buffer, std::size_t size, std::size_t max_values)
      : values_({}, buffer, size), left_(max_values) {
    values_.reset();
  }

  json::value release() { return values_.release(); }

  static bool on_document_begin(Error&) { return true; }
  static bool on_document_end(Error&) { return true; }
  static bool on_object_begin(Error&) { return true; }
  bool on_object_end(std::size_t count, Error& error) { return values_.push_object(count), may_continue(error); }
  static bool on_array_begin(Error&) { return true; }
  bool on_array_end(std::size_t count, Error& error) { return values_.push_array(count), may_continue(error); }
  bool on_key_part(Text part, std::size_t, Error&) { return values_.push_chars(part), true; }
  bool on_key(Text last, std::size_t, Error&) { return values_.push_key(last), true; }
  bool on_string_part(Text part, std::size_t, Error&) { return values_.push_chars(part), true; }
  bool on_string(Text last, std::size_t, Error& error) { return values_.push_string(last), may_continue(error); }
  static bool on_number_part(Text, Error&) { return true; }
  bool on_int64(std::int64_t number, Text, Error& error) { return values_.push_int64(number), may_continue(error); }
  bool on_uint64(std::uint64_t number, Text, Error& error) { return values_.push_uint64(number), may_continue(error); }
  /// `text` is the complete number, because the parser gets all of the JSON at once.
  bool on_double(double rough, Text text, Error& error) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    // Numbers too small for a double are rounded; numbers too large are an error.
    if (read.ec == std::errc::result_out_of_range) number = rough;
    if (!std::isfinite(number)) {
      error = json::error::exponent_overflow;
      return false;
    }
    return values_.push_double(number), may_continue(error);
  }
  bool on_bool(bool truth, Error& error) { return values_.push_bool(truth), may_continue(error); }
  bool on_null(Error& error) { return values_.push_null(), may_continue(error); }
  static bool on_comment_part(Text, Error&) { return true; }
  static bool on_comment(Text, Error&) { return true; }

private:
  bool may_continue(Error& error) {
    if (left_-- > 0) return true;
    error = too_many_values;
    return false;
  }

  json::value_stack values_;
  std::size_t left_;
};

}  // namespace

std::optional<json::value> parse_json(std::string_view text, const JsonParseOptions& reading) {
  return parse_bounded_json(text, reading).value;
}

BoundedJson parse_bounded_json(std::string_view text, const JsonParseOptions& reading) {
  json::parse_options options;
  options.max_depth = reading.max_depth;
  options.allow_invalid_utf8 = reading.allow_invalid_utf8;
  options.allow_comments = options.allow_trailing_commas = reading.allow_comments;
  std::array<unsigned char, 1024> nesting;  // enough for most texts; deeper ones use the heap
  json::basic_parser<ValueBuilder> parser(options, nesting.data(), nesting.size(), reading.max_values);
  boost::system::error_code error;
  const auto read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (error) return {std::nullopt, error == too_many_values, error.message(), read};
  return {parser.handler().release()};
}

json::value parse_stored_json(std::string_view text) {
  auto value = parse_json(text, {.max_depth = max_own_json_depth});
  if (!value) throw std::runtime_error("a stored value is not JSON");
  return *std::move(value);
}

bool nests_deeper(const json::value& value, std::size_t levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  if (const auto* array = value.if_array()) {
    return std::ranges::any_of(*array, [&](const auto& element) { return nests_deeper(element, levels - 1); });
  }
  return std::ranges::any_of(value.get_object(),
                             [&](const auto& member) { return nests_deeper(member.value(), levels - 1); });
}

}  // namespace agw
