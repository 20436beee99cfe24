#include "features/apps/static_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include "api/content_type.hpp"
#include "features/apps/forwarding.hpp"
#include "io/beneath.hpp"
#include "io/private_files.hpp"

namespace agw {

namespace {

constexpr std::size_t piece_size = 256 * 1024;

/// A file that was found, or where to look for it instead.
struct Found {
  std::shared_ptr<const Descriptor> file;
  std::uint64_t size = 0;
  std::string type;
  std::string tag;
  std::string location;  ///< of a directory that was named without its slash
};

[[noreturn]] void refuse() { throw NotFound("file not found"); }

bool is_hidden(const std::string& segment) { return segment.starts_with('.') && segment != ".well-known"; }

/// The path beneath the root, with the `index.html` of a directory.
std::string path_of(std::vector<std::string> segments) {
  if (std::ranges::any_of(segments, is_hidden)) refuse();
  if (segments.empty() || segments.back().empty()) {
    if (!segments.empty()) segments.pop_back();
    segments.emplace_back("index.html");
  }
  // `a//b` is no path: an empty segment stands only at the end.
  if (std::ranges::any_of(segments, &std::string::empty)) refuse();
  return boost::join(segments, "/");
}

std::filesystem::path place_of(const Descriptor& file) {
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file.get()));
}

Found find(const std::filesystem::path& root, const std::string& path, const std::string& last_segment) {
  const auto directory = Directory::open(root);
  if (!directory) refuse();
  const auto status = directory->status(path);
  if (!status) refuse();
  if (status->type == FileType::directory) return {.location = last_segment + "/"};
  auto file = directory->file(path);
  const auto stamp = directory->stamp(path);
  if (!file || !stamp) refuse();
  // A symlink that stays inside may still lead to a key.
  const auto real = place_of(*file);
  const auto relative = real.lexically_relative(root);
  const bool hides = std::ranges::any_of(relative, [](const auto& part) { return is_hidden(part.string()); });
  if (is_private_path(relative) || hides) refuse();
  return {.file = std::make_shared<const Descriptor>(*std::move(file)),
          .size = stamp->size,
          .type = std::string(content_type_of(path)),
          .tag = fmt::format("\"{:x}-{:x}\"", stamp->modified_ns, stamp->size)};
}

std::string read_piece(const Descriptor& file, std::uint64_t offset, std::size_t size) {
  std::string piece(size, '\0');
  const auto count = ::pread(file.get(), piece.data(), size, static_cast<off_t>(offset));
  if (count < 0) throw_errno("cannot read a file of an app");
  piece.resize(static_cast<std::size_t>(count));
  return piece;
}

void require_reading(const Exchange& exchange) {
  if (exchange.method() != "GET" && exchange.method() != "HEAD") throw ApiError(405, "method not allowed");
}

}  // namespace

Task<> StaticFiles::serve(Request& request, Exchange& exchange, std::filesystem::path root) {
  require_reading(exchange);
  const auto segments = request.rest();
  const auto last = segments.empty() ? std::string() : segments.back();
  const auto path = path_of(segments);
  const auto found = co_await blocking_.run([root, path, last] { return find(root, path, last); });
  Fields fields{app_fence()};
  if (!found.file) {
    fields.emplace_back("Location", found.location);
    if (co_await exchange.begin({.status = 301, .fields = std::move(fields), .length = 0})) co_await exchange.end();
    co_return;
  }
  fields.emplace_back("ETag", found.tag);
  if (request.header("if-none-match") == std::string_view(found.tag)) {
    if (co_await exchange.begin({.status = 304, .fields = std::move(fields), .length = 0})) co_await exchange.end();
    co_return;
  }
  fields.emplace_back("Content-Type", found.type);
  if (!co_await exchange.begin({.fields = std::move(fields), .length = found.size})) co_return;
  std::uint64_t sent = exchange.method() == "HEAD" ? found.size : 0;
  while (sent < found.size) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece_size, found.size - sent));
    const auto piece =
        co_await blocking_.run([file = found.file, sent, size] { return read_piece(*file, sent, size); });
    // A file that became shorter is cut off.
    if (piece.empty() || !co_await exchange.send(piece)) co_return;
    sent += piece.size();
  }
  co_await exchange.end();
}

}  // namespace agw
