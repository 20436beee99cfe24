#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// The error for a request that is rejected before it has a route: HTTP status and the text of `error`.
struct Refusal {
  int status;
  std::string error;
};

/// The head of a request (RFC 9112): request line and header fields.
struct Head {
  std::string method;
  std::string target;
  int version = 11;                                         ///< 10 or 11
  std::vector<std::pair<std::string, std::string>> fields;  ///< names in lower case, in order
  std::optional<std::uint64_t> content_length;              ///< set by check_framing
  bool chunked = false;                                     ///< set by check_framing

  /// Adds a field line. Lines of a list that is read as a whole are joined (RFC 9110, 5.3).
  void add(std::string lower_case_name, std::string_view value);
  std::optional<std::string_view> field(std::string_view lower_case_name) const;
  std::size_t count(std::string_view lower_case_name) const;
  /// Whether a comma-separated field such as Connection contains the token, in any case of letters.
  bool has_token(std::string_view lower_case_field, std::string_view lower_case_token) const;
};

/// Removes the white space around a member of a comma-separated field.
std::string_view trimmed(std::string_view text);

/// Checks a head that Beast's parser accepted strictly against RFC 9112, and fills in how its body is framed. `raw` is
/// the head's bytes. Everything that two servers could read differently is rejected: folded fields, repeated framing
/// fields, no or two hosts, a length together with chunks, `Content-Length: 3,3`, unknown transfer codings (501).
std::optional<Refusal> check_framing(std::string_view raw, Head& head);

/// The error for a head whose version the parser rejected: 505 for another version of HTTP.
Refusal refuse_version(std::string_view raw);

}  // namespace agw
