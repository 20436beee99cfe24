#pragma once

#include <string>
#include <string_view>

namespace agw {

// Texts of others as UTF-8. What is none in its charset is replaced.

/// Whether a Content-Type says which charset its text is in.
bool names_charset(std::string_view content_type);

/// Whether a byte order mark says that it is UTF-16.
bool is_marked_utf16(std::string_view bytes);

/// By the byte order mark, by the `charset` of the Content-Type, else as UTF-8 where it is that, else as Windows-1252.
/// What its Content-Type calls a page of HTML is read as one.
std::string text_to_utf8(std::string_view bytes, std::string_view content_type);

/// A page of HTML, whatever its Content-Type: where neither of the first two says it, by its `meta`.
std::string html_to_utf8(std::string_view bytes, std::string_view content_type);

}  // namespace agw
