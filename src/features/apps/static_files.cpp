#include "features/apps/static_files.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include "api/refusals.hpp"
#include "api/response.hpp"
#include "api/versions.hpp"
#include "base/async/assert.hpp"
#include "features/apps/forwarding.hpp"
#include "io/files/directory.hpp"
#include "io/http/web_url.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

constexpr std::size_t piece_size = 256 * 1024;

/// The file, or the location to redirect to.
struct Found {
  std::shared_ptr<const Descriptor> file;
  std::uint64_t size = 0;
  std::string type;
  std::string tag;
  std::string location;  ///< of a directory requested without its slash, encoded
};

[[noreturn]] void throw_not_found() { throw file_not_found(); }

/// Whether an encoded slash is part of the segment: file names cannot contain one.
bool has_slash(const std::string& segment) { return segment.find('/') != segment.npos; }

bool is_hidden_segment(const std::string& segment) { return segment.starts_with('.') && segment != ".well-known"; }

/// The path below the root, with `index.html` added to a directory.
std::string path_of(std::vector<std::string> segments) {
  if (std::ranges::any_of(segments, is_hidden_segment) || std::ranges::any_of(segments, has_slash)) throw_not_found();
  if (segments.empty() || segments.back().empty()) {
    if (!segments.empty()) segments.pop_back();
    segments.emplace_back("index.html");
  }
  // `a//b` is invalid: only the last segment may be empty.
  if (std::ranges::any_of(segments, &std::string::empty)) throw_not_found();
  return boost::join(segments, "/");
}

/// The unchanged query of a target, including its question mark.
std::string_view query_of(std::string_view target) {
  const auto question = target.find('?');
  return question == target.npos ? std::string_view() : target.substr(question);
}

Found find(const std::filesystem::path& root, const std::string& path, const std::string& last_segment) {
  const auto directory = Directory::open(root);
  if (!directory) throw_not_found();
  const auto status = directory->status(path);
  if (!status) throw_not_found();
  if (status->type == FileType::directory) {
    if (last_segment.empty()) throw_not_found();  // `index.html` is itself a directory, so there is nothing to serve.
    return {.location = percent_encode(last_segment) + "/"};
  }
  auto file = directory->file(path);
  const auto stamp = directory->stamp(path);
  if (!file || !stamp) throw_not_found();
  // Even inside the root, a symlink may lead to a private file.
  const auto real = real_path(*file);
  const auto relative = real.lexically_relative(root);
  const bool has_hidden =
      std::ranges::any_of(relative, [](const auto& part) { return is_hidden_segment(part.string()); });
  if (is_private_path(relative) || has_hidden) throw_not_found();
  return {.file = std::make_shared<const Descriptor>(*std::move(file)),
          .size = stamp->size,
          .type = std::string(content_type_of(path)),
          .tag = fmt::format("\"{:x}-{:x}\"", stamp->modified_ns, stamp->size)};
}

bool is_read(const ProxyStream& stream) { return stream.method() == "GET" || stream.method() == "HEAD"; }

/// `length`: that of the body of the corresponding full response.
Task<> response_without_body(ProxyStream& stream, int status, Fields fields, std::uint64_t length = 0) {
  if (co_await stream.begin({.status = status, .fields = std::move(fields), .length = length})) co_await stream.end();
}

Task<> error_response_of(ProxyStream& stream, int status, Fields fields, std::string error) {
  const auto body = to_json(json::object{{"error", error}});
  fields.emplace_back("Content-Type", "application/json; charset=utf-8");
  if (!co_await stream.begin({.status = status, .fields = std::move(fields), .length = body.size()})) co_return;
  if (stream.method() == "HEAD" || co_await stream.send(body)) co_await stream.end();
}

std::string content_range(const FilePart& part, std::uint64_t size) {
  AGW_ASSERT(part.count > 0);
  AGW_ASSERT(part.first + part.count <= size);
  return fmt::format("bytes {}-{}/{}", part.first, part.first + part.count - 1, size);
}

/// The requested part of the file; the whole file if the client has parts of another version (If-Range).
FilePart part_of(const Request& request, const ProxyStream& stream, const Found& found) {
  const auto condition = request.header("if-range");
  const bool may_be_part = stream.method() == "GET" && (!condition || *condition == found.tag);
  return requested_part(may_be_part ? request.header("range") : std::nullopt, found.size);
}

}  // namespace

Task<> StaticFiles::serve(Request& request, ProxyStream& stream, std::filesystem::path root) {
  if (!is_read(stream))
    co_return co_await error_response_of(stream, 405, {{"Allow", "GET, HEAD"}}, "method not allowed");
  const auto segments = request.rest();
  const auto last = segments.empty() ? std::string() : segments.back();
  const auto path = path_of(segments);
  const auto found = co_await blocking_.run([root, path, last] { return find(root, path, last); });
  AGW_ASSERT(!found.file == !found.location.empty());
  Fields fields{isolation_field()};
  if (!found.file) {
    fields.emplace_back("Location", found.location + std::string(query_of(stream.target())));
    co_return co_await response_without_body(stream, 301, std::move(fields));
  }
  fields.emplace_back("ETag", found.tag);
  if (has_version(request, found.tag)) {
    co_return co_await response_without_body(stream, 304, std::move(fields), found.size);
  }
  fields.emplace_back("Accept-Ranges", "bytes");
  const auto part = part_of(request, stream, found);
  if (part.status == 416) {
    fields.emplace_back("Content-Range", fmt::format("bytes */{}", found.size));
    co_return co_await error_response_of(stream, 416, std::move(fields), "range not satisfiable");
  }
  if (part.status == 206) fields.emplace_back("Content-Range", content_range(part, found.size));
  fields.emplace_back("Content-Type", found.type);
  if (!co_await stream.begin({.status = part.status, .fields = std::move(fields), .length = part.count})) co_return;
  if (stream.method() == "HEAD" || co_await send(stream, found.file, part)) co_await stream.end();
}

/// Returns false if the client has disconnected, or the file has become shorter, which truncates the response.
Task<bool> StaticFiles::send(ProxyStream& stream, std::shared_ptr<const Descriptor> file, FilePart part) {
  for (auto left = part.count; left > 0;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece_size, left));
    const auto begin = part.first + part.count - left;
    const auto piece = co_await blocking_.run([file, begin, size] { return read_range(*file, begin, size); });
    if (piece.empty() || !co_await stream.send(piece)) co_return false;
    AGW_ASSERT(piece.size() <= left);
    left -= piece.size();
  }
  co_return true;
}

}  // namespace agw
