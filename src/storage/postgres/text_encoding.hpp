#pragma once

#include <string>
#include <string_view>

namespace agw::postgres {

// PostgreSQL's text is UTF-8 without NUL; texts of SQLite, and so of the gateway, may be any bytes. A byte that
// PostgreSQL rejects is stored as U+10FFFF (a noncharacter) and the character U+0100 + byte; U+10FFFF itself as four
// such bytes. Decoding returns exactly the original bytes.

/// Whether `text` must be encoded before it is stored.
bool needs_encoding(std::string_view text);
/// Example: src/storage/postgres/text_encoding_test.cpp: TextEncodingTest.AnyBytesComeBack
std::string encoded(std::string_view text);

/// Whether stored `text` may contain encoded bytes.
bool may_be_encoded(std::string_view text);
std::string decoded(std::string_view text);

}  // namespace agw::postgres
