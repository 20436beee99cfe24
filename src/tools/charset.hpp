#pragma once

#include <string>
#include <string_view>

namespace agw {

// Converts foreign text to UTF-8. Bytes that are invalid in its charset are replaced.

/// Whether a Content-Type declares a charset.
/// Example: src/tools/charset_test.cpp: Charset.IsThatOfTheMarkOrTheContentTypeOrOneThatFits
bool declares_charset(std::string_view content_type);

/// Whether the bytes start with a byte order mark of UTF-16.
bool is_marked_utf16(std::string_view bytes);

/// Takes the charset from the byte order mark or the `charset` of the Content-Type. Without either it is UTF-8 if the
/// text is valid UTF-8, else Windows-1252. A page that the Content-Type declares as HTML is read as HTML.
std::string text_to_utf8(std::string_view bytes, std::string_view content_type);

/// Reads an HTML page, regardless of its Content-Type. If it has neither a byte order mark nor a declared charset, its
/// `meta` element decides.
std::string html_to_utf8(std::string_view bytes, std::string_view content_type);

}  // namespace agw
