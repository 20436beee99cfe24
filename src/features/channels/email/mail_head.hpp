#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

struct MailField {
  std::string name;   ///< in lower case
  std::string value;  ///< unfolded, not decoded
};

/// The header of a mail or of a part of it (RFC 5322).
struct MailHead {
  std::vector<MailField> fields;  ///< topmost first, at most 1,000
  std::size_t size = 0;           ///< bytes up to the body

  /// The value of the topmost field of that name; empty without one.
  std::string_view first(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
};
MailHead read_mail_head(std::string_view bytes);

/// A value with parameters, such as that of Content-Type (RFC 2045), with continuations and charsets (RFC 2231).
struct FieldValue {
  std::string value;                                             ///< in lower case
  std::map<std::string, std::string, std::less<>> parameters{};  ///< names in lower case, values in UTF-8

  std::string_view parameter(std::string_view name) const;
};
FieldValue read_field_value(std::string_view text);

struct MailAddress {
  std::string name;     ///< the display name; may be empty
  std::string address;  ///< in lower case; empty if replies cannot be sent to it
};
/// The addresses of a field such as From, at most 1,000. Ambiguous ones have an empty `address`.
/// Example: src/features/channels/email/mail_reader_test.cpp: MailAddresses.AreReadOnlyIfUnambiguous
std::vector<MailAddress> read_addresses(std::string_view text);

/// The message ids in a field such as References: `<id@host>`, at most 100.
std::vector<std::string> read_message_ids(std::string_view text);

/// `text` without comments in parentheses. Quoted strings stay as they are.
std::string without_comments(std::string_view text);

/// Splits at each `separator` outside of quoted strings.
std::vector<std::string_view> split_unquoted(std::string_view text, char separator);

/// The content of a quoted string, or the text itself.
std::string unquoted(std::string_view text);

}  // namespace agw
