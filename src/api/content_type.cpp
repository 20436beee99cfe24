#include <array>
#include <utility>

#include <boost/algorithm/string/predicate.hpp>

#include "api/response.hpp"

namespace agw {

std::string_view content_type_of(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 26> types{{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json; charset=utf-8"},
      {".webmanifest", "application/manifest+json; charset=utf-8"},
      {".svg", "image/svg+xml; charset=utf-8"},
      {".txt", "text/plain; charset=utf-8"},
      {".htm", "text/html; charset=utf-8"},
      {".md", "text/markdown; charset=utf-8"},
      {".xml", "application/xml; charset=utf-8"},
      {".pdf", "application/pdf"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".gif", "image/gif"},
      {".avif", "image/avif"},
      {".mp3", "audio/mpeg"},
      {".mp4", "video/mp4"},
      {".webm", "video/webm"},
      {".woff", "font/woff"},
      {".png", "image/png"},
      {".webp", "image/webp"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".wasm", "application/wasm"},
      {".map", "application/json; charset=utf-8"},
  }};
  for (const auto& [ending, type] : types) {
    if (boost::iends_with(path, ending)) return type;  // cameras write `.JPG`
  }
  return "application/octet-stream";
}

}  // namespace agw
