#include "cli/transfer/source_files.hpp"

#include <array>
#include <utility>

#include "base/json/json.hpp"
#include "features/attachments/service.hpp"
#include "features/client_api/pictures.hpp"
#include "models/picture.hpp"

namespace agw::cli {

std::string type_of(std::string_view bytes) {
  for (const auto* type : {"image/png", "image/jpeg", "image/gif", "image/webp"})
    if (is_picture(type, bytes)) return type;
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  return is_utf8(bytes) ? "text/plain" : "application/octet-stream";
}

std::optional<SourceFile> file_in_url(std::string name, std::string_view url) {
  constexpr std::string_view scheme = "data:", encoding = ";base64,";
  const auto data = url.find(encoding);
  if (!url.starts_with(scheme) || data == url.npos) return std::nullopt;
  auto bytes = from_base64(url.substr(data + encoding.size()));
  if (!bytes) return std::nullopt;
  return SourceFile{std::move(name), std::string(url.substr(scheme.size(), data - scheme.size())), *std::move(bytes)};
}

std::string content_of(const ByteSource& read) {
  std::string content;
  for (auto bytes = read(); !bytes.empty() && content.size() <= attachment_limit; bytes = read()) content += bytes;
  return content;
}

}  // namespace agw::cli
