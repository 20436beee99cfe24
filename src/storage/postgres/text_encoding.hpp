#pragma once

#include <string>
#include <string_view>

namespace agw::postgres {

// PostgreSQL's text is UTF-8 without NUL; SQLite's, and so the gateway's, may be any bytes. A byte that cannot be in it
// is stored as U+10FFFF (no character, and never one) and the character U+0100 + byte; U+10FFFF itself as four such
// bytes. Reading returns exactly what was stored.

/// Whether `text` must be encoded before it is stored.
bool needs_encoding(std::string_view text);
/// Example: src/storage/postgres/text_encoding_test.cpp: TextEncodingTest.AnyBytesComeBack
std::string encoded(std::string_view text);

/// Whether stored `text` contains encoded bytes, or looks as if.
bool may_be_encoded(std::string_view text);
std::string decoded(std::string_view text);

}  // namespace agw::postgres
