#include "server/documents/page_routes.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "api/refusals.hpp"
#include "api/response.hpp"
#include "api/versions.hpp"
#include "base/embedded.hpp"
#include "io/files/brotli.hpp"
#include "io/files/gzip.hpp"

namespace agw {

namespace {

constexpr std::string_view index_file = "index.html";
constexpr std::string_view frame_file = "frame.html";
constexpr std::string_view missing_page_file = "share/page/left-out.html";

/// Allows only the page's own files, no HTML from strings, no embedding in frames.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html "
    "agw-highlight";

/// For frames with content of extensions and agents: scripts of an opaque origin, without network and storage.
constexpr std::string_view frame_policy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

constexpr std::string_view permissions_name = "Permissions-Policy";

/// `microphone` states who may use it, for dictation.
std::string permissions(std::string_view microphone) {
  return fmt::format("camera=(), microphone=({}), geolocation=(), clipboard-write=(self)", microphone);
}

Fields fields_of_page(std::string_view policy) {
  return {{"Content-Security-Policy", std::string(policy)},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          // To browsers, other ports of this host are the same site, which may share a process with the page.
          {"Origin-Agent-Cluster", "?1"},
          {std::string(permissions_name), permissions("")}};
}

/// Calls `use` for each entry of a comma-separated field.
template <class Use>
void each_entry(std::string_view field, Use use) {
  while (!field.empty()) {
    const auto end = std::min(field.find(','), field.size());
    use(boost::trim_copy(std::string(field.substr(0, end))));
    field.remove_prefix(std::min(end + 1, field.size()));
  }
}

bool accepts_coding(const Request& request, std::string_view coding) {
  bool accepted = false;
  each_entry(request.header("accept-encoding").value_or(""), [&](const std::string& entry) {
    const auto name = boost::trim_copy(entry.substr(0, entry.find(';')));
    const bool refused =
        entry.find("q=0") != entry.npos && entry.find_first_of("123456789", entry.find("q=0")) == entry.npos;
    if (boost::iequals(name, coding)) accepted = !refused;
  });
  return accepted;
}

/// Sets the body in the shortest encoding that the client accepts.
Task<> fill(BlockingPool& blocking, Response& response, const Request& request, const PageFile& file) {
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (file.brotli.empty()) {
    response.body = file.content;
    co_return;
  }
  if (accepts_coding(request, "br")) {
    response.headers.emplace_back("Content-Encoding", "br");
    response.body = file.brotli;
    co_return;
  }
  const bool by_gzip = accepts_coding(request, "gzip");
  if (by_gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = co_await blocking.run([brotli = file.brotli, size = file.size, by_gzip] {
    auto content = brotli_decompressed(brotli, size);
    return by_gzip ? gzip_compressed(content) : content;
  });
}

Task<Response> file_response(BlockingPool& blocking, const Request& request, const PageFile& file) {
  Response response{.content_type = content_type_of(file.path)};
  // Names of assets change with their content; other names do not.
  const bool never_changes = file.path.starts_with("assets/");
  response.headers.emplace_back("Cache-Control", never_changes ? "public, max-age=31536000, immutable" : "no-cache");
  const auto tag = "W/\"" + std::string(file.tag) + '"';
  response.headers.emplace_back("ETag", tag);
  if (has_version(request, tag)) {
    response.status = 304;
  } else {
    co_await fill(blocking, response, request, file);
  }
  co_return response;
}

Response missing_page() {
  for (const auto& file : embedded_files()) {
    if (file.path != missing_page_file) continue;
    return {.body = std::string(file.content), .content_type = "text/html; charset=utf-8"};
  }
  throw InternalError("not compiled in: " + std::string(missing_page_file));
}

const PageFile* find_file(std::span<const PageFile> files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

Response redirect_to_page(const Request&) { return Response::redirect("/ui/"); }

Task<Response> show_file(BlockingPool& blocking, std::span<const PageFile> files, Request& request) {
  auto path = boost::join(request.rest(), "/");
  if (path.empty()) path = index_file;
  if (files.empty() && path == index_file) co_return missing_page();
  const auto* found = path == frame_file ? nullptr : find_file(files, path);
  if (!found) throw not_found();
  auto response = co_await file_response(blocking, request, *found);
  // Browsers send this field only where they let a page use the microphone: over HTTPS, and on this machine.
  const bool is_shown = request.header("sec-fetch-dest") == "document";
  if (is_shown && path == index_file) response.headers.emplace_back(permissions_name, permissions("self"));
  co_return response;
}

Task<Response> show_frame(BlockingPool& blocking, std::span<const PageFile> files, Request& request) {
  const auto* found = find_file(files, frame_file);
  if (!found) throw not_found();
  co_return co_await file_response(blocking, request, *found);
}

}  // namespace

Fields page_fields() { return fields_of_page(page_policy); }

Routes page_routes(BlockingPool& blocking, std::span<const PageFile> files) {
  return {
      get("/ui", "The web page", redirect_to_page).needs_no_token().undocumented(),
      get("/ui/*", "The files of the web page", std::bind_front(show_file, std::ref(blocking), files))
          .needs_no_token()
          .undocumented()
          .with_headers(page_fields()),
      get("/ui/frame", "The frame for what extensions show", std::bind_front(show_frame, std::ref(blocking), files))
          .needs_no_token()
          .undocumented()
          .with_headers(fields_of_page(frame_policy)),
  };
}

}  // namespace agw
