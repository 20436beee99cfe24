#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "cli/transfer/byte_source.hpp"

namespace agw::cli {

/// Parses JSON of another program, whose texts may contain invalid characters: one half of a surrogate pair (`\ud800`),
/// which JavaScript leaves when it truncates a text, or bytes that are not UTF-8. Each becomes U+FFFD and is counted in
/// `replaced`.
/// Example: src/cli/transfer/json_pieces_test.cpp: SourceJson.HasWholeCharacters
std::optional<json::value> parse_source_json(std::string_view text, std::size_t& replaced);

/// Splits a JSON text of any length into the elements of its outermost array, so that only one is in memory. If the
/// outermost value is an object, it is the only element. Finds elements by brackets and quotes; their parser must
/// validate them.
/// Example: src/cli/transfer/json_pieces_test.cpp: JsonElements.AreCutFromPiecesOfAnySize
class JsonElements {
public:
  JsonElements(ByteSource source, std::size_t max_bytes) : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// The next element that is not too large; false at the end.
  bool next(std::string& element);

  std::size_t too_large() const { return too_large_; }  ///< the number of skipped elements
  /// Whether the text ended before its outermost value.
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

/// Splits a text into lines, of which only one is in memory. Skips empty ones.
class TextLines {
public:
  TextLines(ByteSource source, std::size_t max_bytes) : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// The next line that is not too large, without its line end and a byte order mark; false at the end.
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

/// The first bytes of files written by editors on Windows.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace agw::cli
