#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// A request that was refused before it had a route: HTTP status and the text of `error`.
struct Refusal {
  int status;
  std::string error;
};

/// The head of a request (RFC 9112): what stands before its body.
struct Head {
  std::string method;
  std::string target;
  int version = 11;                                         ///< 10 or 11
  std::vector<std::pair<std::string, std::string>> fields;  ///< names in lower case, in order
  std::optional<std::uint64_t> content_length;              ///< set by check_framing
  bool chunked = false;                                     ///< set by check_framing

  /// Adds a line of the head. Those of a list that is read as a whole become one (RFC 9110, 5.3).
  void add(std::string lower_case_name, std::string_view value);
  std::optional<std::string_view> field(std::string_view lower_case_name) const;
  std::size_t count(std::string_view lower_case_name) const;
  /// Whether a comma-separated field (such as Connection) names `token`, in any case of letters.
  bool names(std::string_view lower_case_field, std::string_view lower_case_token) const;
};

/// A member of a comma-separated field without the white space around it.
std::string_view trimmed(std::string_view text);

/// Holds a head, as Beast's parser let it through, against RFC 9112 to the letter, and fills in how its body is framed.
/// `raw` is the head's bytes. What two servers could read in two ways is refused: folded or doubled fields that frame,
/// no or two hosts, a length together with chunks, `Content-Length: 3,3`, unknown transfer codings (501).
std::optional<Refusal> check_framing(std::string_view raw, Head& head);

/// The refusal for a head that the parser did not take because of its version: 505 for another version of HTTP.
Refusal refuse_version(std::string_view raw);

}  // namespace agw
