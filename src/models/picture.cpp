#include "models/picture.hpp"

namespace agw {

bool is_picture(std::string_view mime, std::string_view bytes) {
  if (mime == "image/png") return bytes.starts_with("\x89PNG\r\n");
  if (mime == "image/jpeg") return bytes.starts_with("\xff\xd8\xff");
  if (mime == "image/gif") return bytes.starts_with("GIF8");
  return mime == "image/webp" && bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
}

}  // namespace agw
