#include "cli/transfer/source_files.hpp"

#include <array>
#include <utility>

#include "base/json/json.hpp"
#include "features/attachments/service.hpp"
#include "models/picture.hpp"
#include "models/wire_format.hpp"

namespace agw::cli {

std::string type_of(std::string_view bytes) {
  for (const auto* type : {"image/png", "image/jpeg", "image/gif", "image/webp"})
    if (is_picture(type, bytes)) return type;
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  return is_utf8(bytes) ? "text/plain" : "application/octet-stream";
}

std::optional<SourceFile> file_of_base64(std::string name, std::string_view type, std::string_view data) {
  auto bytes = from_base64(data);
  if (!bytes || bytes->empty()) return std::nullopt;
  return SourceFile{std::move(name), std::string(type), *std::move(bytes)};
}

std::optional<SourceFile> file_in_url(std::string name, std::string_view url) {
  constexpr std::string_view scheme = "data:", encoding = ";base64,";
  const auto data = url.find(encoding);
  if (!url.starts_with(scheme) || data == url.npos) return std::nullopt;
  return file_of_base64(std::move(name), url.substr(scheme.size(), data - scheme.size()),
                        url.substr(data + encoding.size()));
}

std::string content_of(const ByteSource& read) {
  std::string content;
  for (auto bytes = read(); !bytes.empty() && content.size() <= attachment_limit; bytes = read()) content += bytes;
  return content;
}

}  // namespace agw::cli
