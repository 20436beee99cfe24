// Exports of other programs, as streams: an array's elements and a text's lines, however they are split.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/transfer/json_pieces.hpp"

namespace {

agw::cli::ByteSource in_pieces(std::string_view bytes, std::size_t step) {
  return [bytes, step]() mutable {
    const auto piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    return piece;
  };
}

template <class Pieces>
std::vector<std::string> read(std::string_view bytes, std::size_t step) {
  Pieces pieces(in_pieces(bytes, step), 256);
  std::vector<std::string> found;
  for (std::string piece; pieces.next(piece);) found.push_back(piece);
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto all = std::max<std::size_t>(size, 1);
  if (read<agw::cli::JsonElements>(bytes, all) != read<agw::cli::JsonElements>(bytes, 1)) std::abort();
  if (read<agw::cli::TextLines>(bytes, all) != read<agw::cli::TextLines>(bytes, 3)) std::abort();
  return 0;
}
