#pragma once

#include <string>
#include <string_view>

namespace agw {

/// Encodes half of a surrogate pair in three bytes, as if it were a character (CESU-8).
std::string encode_surrogate(unsigned code_unit);

/// Returns `text` as valid UTF-8: an encoded surrogate pair becomes its character; unpaired surrogates and invalid
/// bytes become U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// Decodes a text that arrives in pieces. A server may have split it inside a character.
/// Example: src/models/utf8_decoder_test.cpp: Utf8Decoder.PutsACharacterTogetherWhereverItIsCut
class Utf8Decoder {
public:
  /// Returns the complete characters up to the end of `piece`, and keeps the start of an incomplete one for the next
  /// piece.
  std::string add(std::string_view piece);

  /// Returns U+FFFD if the last character is incomplete, else an empty string.
  std::string finish();

private:
  std::string waiting_;
};

}  // namespace agw
