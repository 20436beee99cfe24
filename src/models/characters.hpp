#pragma once

#include <string>
#include <string_view>

namespace agw {

/// The half of a surrogate pair in three bytes, as if it were a character (CESU-8).
std::string half_character(unsigned code_unit);

/// `text` as valid UTF-8: two halves of a surrogate pair that meet are one character, every other half and every byte
/// that is part of no character is U+FFFD.
std::string whole_characters(std::string_view text);

/// Reads a text that comes in pieces, which a server may have cut within a character.
class CharacterReader {
public:
  /// What is whole of the text and was not yet given; the beginning of a character waits for the next piece.
  std::string add(std::string_view piece);

  /// U+FFFD for a character whose end never came, else nothing.
  std::string finish();

private:
  std::string waiting_;
};

}  // namespace agw
