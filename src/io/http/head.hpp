#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// The error for a request rejected before routing: the HTTP status and the text of `error`.
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

  /// Adds a field line. Lines of a list field are joined to one field (RFC 9110, 5.3).
  void add(std::string lower_case_name, std::string_view value);
  std::optional<std::string_view> field(std::string_view lower_case_name) const;
  std::size_t count(std::string_view lower_case_name) const;
  /// Whether a comma-separated field such as Connection contains the token, ignoring case.
  bool has_token(std::string_view lower_case_field, std::string_view lower_case_token) const;
};

/// Removes the white space around an element of a comma-separated field.
std::string_view trimmed(std::string_view text);

/// Checks a head accepted by Beast's parser strictly against RFC 9112, and sets the framing of its body. `raw` contains
/// the head's bytes. Rejects everything that two servers could interpret differently: folded fields, repeated framing
/// fields, no or two hosts, a length together with chunks, `Content-Length: 3,3`, unknown transfer codings (501).
std::optional<Refusal> check_framing(std::string_view raw, Head& head);

/// The error for a head whose version the parser rejected: 505 for another HTTP version.
Refusal refuse_version(std::string_view raw);

}  // namespace agw
