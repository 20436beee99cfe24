#pragma once

#include <string>
#include <string_view>

namespace agw {

/// Decodes a body with that Content-Transfer-Encoding (RFC 2045). Never fails: invalid characters are dropped (base64)
/// or kept (quoted-printable).
std::string decode_body(std::string_view body, std::string_view encoding);

/// A header's text in UTF-8, with its encoded words (RFC 2047) decoded. Line ends and other control characters become
/// blanks.
/// Example: src/features/channels/email/mail_reader_test.cpp: MailHeader.DecodesWordsInAnyCharset
std::string decode_header(std::string_view text);

/// Lines of at most 76 characters that end with CRLF.
std::string encode_base64(std::string_view bytes);
std::string encode_quoted_printable(std::string_view utf8);

/// A header's text in ASCII, as encoded words if needed.
std::string encode_header(std::string_view utf8);

}  // namespace agw
