#include "server/documents/page_routes.hpp"

#include <algorithm>
#include <functional>

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/endian/conversion.hpp>

#include "api/refusals.hpp"
#include "api/response.hpp"
#include "base/async/assert.hpp"
#include "base/embedded.hpp"

namespace agw {

namespace {

constexpr std::string_view index_file = "index.html";
constexpr std::string_view frame_file = "frame.html";
constexpr std::string_view missing_page_file = "share/page/left-out.html";

/// Only the page's own files, no HTML from strings, no embedding in frames.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html agw-highlight "
    "agw-worker";

/// The frame shows content of extensions and agents: scripts of an opaque origin, without network and storage.
constexpr std::string_view frame_policy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

Fields fields_of_page(std::string_view policy) {
  return {{"Content-Security-Policy", std::string(policy)},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Permissions-Policy", "camera=(), microphone=(), geolocation=(), clipboard-write=(self)"}};
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

bool has_current_version(const Request& request, std::string_view tag) {
  bool known = false;
  each_entry(request.header("if-none-match").value_or(""),
             [&](const std::string& entry) { known = known || entry == tag || entry == "*"; });
  return known;
}

/// The content of a gzip file without optional fields in its head, as script/pack_page makes them (RFC 1952).
std::string unpacked(std::string_view gzip) {
  constexpr std::size_t head = 10;
  constexpr std::size_t tail = 8;
  std::string content(boost::endian::load_little_u32(reinterpret_cast<const unsigned char*>(gzip.end() - 4)), '\0');
  boost::beast::zlib::z_params step;
  step.next_in = gzip.data() + head;
  step.avail_in = gzip.size() - head - tail;
  step.next_out = content.data();
  step.avail_out = content.size();
  boost::beast::error_code error;
  boost::beast::zlib::inflate_stream{}.write(step, boost::beast::zlib::Flush::finish, error);
  AGW_CHECK(step.avail_out == 0, "a file of the page cannot be unpacked: " + error.message());
  return content;
}

/// Fills in the body in the shortest encoding that the client accepts.
void fill(Response& response, const Request& request, const PageFile& file) {
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!file.brotli.empty() && accepts_coding(request, "br")) {
    response.headers.emplace_back("Content-Encoding", "br");
    response.body = file.brotli;
  } else if (!file.gzip.empty() && accepts_coding(request, "gzip")) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = file.gzip;
  } else {
    const bool is_packed = file.content.empty() && !file.gzip.empty();
    response.body = is_packed ? unpacked(file.gzip) : std::string(file.content);
  }
}

Response file_response(const Request& request, const PageFile& file) {
  Response response{.content_type = content_type_of(file.path)};
  // Only the names of assets change with their content.
  const bool never_changes = file.path.starts_with("assets/");
  response.headers.emplace_back("Cache-Control", never_changes ? "public, max-age=31536000, immutable" : "no-cache");
  const auto tag = "W/\"" + std::string(file.tag) + '"';
  response.headers.emplace_back("ETag", tag);
  if (has_current_version(request, tag)) {
    response.status = 304;
  } else {
    fill(response, request, file);
  }
  return response;
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

Task<Response> show_file(std::span<const PageFile> files, Request& request) {
  auto path = boost::join(request.rest(), "/");
  if (path.empty()) path = index_file;
  if (files.empty() && path == index_file) co_return missing_page();
  const auto* found = path == frame_file ? nullptr : find_file(files, path);
  if (!found) throw not_found();
  co_return file_response(request, *found);
}

Response show_frame(std::span<const PageFile> files, const Request& request) {
  const auto* found = find_file(files, frame_file);
  if (!found) throw not_found();
  return file_response(request, *found);
}

}  // namespace

Routes page_routes(std::span<const PageFile> files) {
  return {
      get("/ui", "The web page", redirect_to_page).needs_no_token().undocumented(),
      get("/ui/*", "The files of the web page", std::bind_front(show_file, files))
          .needs_no_token()
          .undocumented()
          .with_headers(fields_of_page(page_policy)),
      get("/ui/frame", "The frame for what extensions show", std::bind_front(show_frame, files))
          .needs_no_token()
          .undocumented()
          .with_headers(fields_of_page(frame_policy)),
  };
}

}  // namespace agw
