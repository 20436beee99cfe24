#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "cli/transfer/byte_source.hpp"

namespace agw::cli {

/// Parses JSON of another program, in which texts may hold what is no whole character: one half of a surrogate pair
/// (`\ud800`), as JavaScript leaves it where it cuts a text, or bytes that are not UTF-8. Each becomes U+FFFD and is
/// counted in `replaced`.
/// Example: src/cli/transfer/json_pieces_test.cpp: SourceJson.HasWholeCharacters
std::optional<json::value> parse_source_json(std::string_view text, std::size_t& replaced);

/// Cuts a JSON text of any length into the elements of its outermost array, so that only one is in memory. A text whose
/// outermost value is an object is one element. The elements are found by their brackets and quotes; whether each is
/// JSON is for its parser to say.
/// Example: src/cli/transfer/json_pieces_test.cpp: JsonElements.AreCutFromPiecesOfAnySize
class JsonElements {
public:
  JsonElements(ByteSource source, std::size_t max_bytes) : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// The next element that is not too large; false at the end.
  bool next(std::string& element);

  std::size_t too_large() const { return too_large_; }  ///< how many were passed over
  /// Whether the text ended before its outermost value did.
  bool is_truncated() const { return truncated_; }

private:
  bool refill();
  bool begin(char& first);
  bool capture(char first, std::string& element);

  ByteSource source_;
  std::size_t max_bytes_;
  std::string_view bytes_;
  std::size_t too_large_ = 0;
  bool begun_ = false;
  bool in_array_ = false;
  bool ended_ = false;
  bool truncated_ = false;
};

/// Cuts a text into its lines, of which only one is in memory. Empty ones are passed over.
class TextLines {
public:
  TextLines(ByteSource source, std::size_t max_bytes) : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// The next line that is not too large, without its end and a byte order mark; false at the end.
  bool next(std::string& line);

  std::size_t too_large() const { return too_large_; }

private:
  ByteSource source_;
  std::size_t max_bytes_;
  std::string_view bytes_;
  std::size_t too_large_ = 0;
  bool is_first_ = true;
  bool ended_ = false;
};

/// What editors on Windows begin files with.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace agw::cli
