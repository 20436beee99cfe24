#include "server/page_routes.hpp"

#include <algorithm>

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "api/content_type.hpp"
#include "api/refusals.hpp"
#include "base/embedded.hpp"

namespace agw {

namespace {

constexpr std::string_view index_file = "index.html";
constexpr std::string_view frame_file = "frame.html";
constexpr std::string_view page_left_out = "share/page/left-out.html";

/// Nothing but the page's own files, no markup made of strings, no frame around it.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html agw-highlight";

/// The frame shows what extensions and agents made: scripts of no origin, without network and storage.
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

/// Calls `use` with each entry of a comma-separated field.
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

bool has_it_already(const Request& request, std::string_view tag) {
  bool known = false;
  each_entry(request.header("if-none-match").value_or(""),
             [&](const std::string& entry) { known = known || entry == tag || entry == "*"; });
  return known;
}

/// The answer's body in the shortest form that the client takes.
void fill(Answer& answer, const Request& request, const PageFile& file) {
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  if (!file.brotli.empty() && accepts_coding(request, "br")) {
    answer.headers.emplace_back("Content-Encoding", "br");
    answer.body = file.brotli;
  } else if (!file.gzip.empty() && accepts_coding(request, "gzip")) {
    answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.body = file.gzip;
  } else {
    answer.body = file.content;
  }
}

Answer answer_with(const Request& request, const PageFile& file) {
  Answer answer{.content_type = content_type_of(file.path)};
  // The name of an asset changes with its content, that of no other file does.
  const bool never_changes = file.path.starts_with("assets/");
  answer.headers.emplace_back("Cache-Control", never_changes ? "public, max-age=31536000, immutable" : "no-cache");
  const auto tag = "W/\"" + std::string(file.tag) + '"';
  answer.headers.emplace_back("ETag", tag);
  if (has_it_already(request, tag)) {
    answer.status = 304;
  } else {
    fill(answer, request, file);
  }
  return answer;
}

Answer left_out() {
  for (const auto& file : embedded_files()) {
    if (file.path != page_left_out) continue;
    return {.body = std::string(file.content), .content_type = "text/html; charset=utf-8"};
  }
  throw std::logic_error("not compiled in: " + std::string(page_left_out));
}

}  // namespace

Routes PageRoutes::routes() {
  return {
      get("/ui", "The web page", this, &PageRoutes::enter).needs_no_token().is_no_api(),
      get("/ui/*", "The files of the web page", this, &PageRoutes::file)
          .needs_no_token()
          .is_no_api()
          .carries(fields_of_page(page_policy)),
      get("/ui/frame", "The frame for what extensions show", this, &PageRoutes::frame)
          .needs_no_token()
          .is_no_api()
          .carries(fields_of_page(frame_policy)),
  };
}

Answer PageRoutes::enter(const Request&) { return Answer::redirect("/ui/"); }

Task<Answer> PageRoutes::file(Request& request) {
  auto path = boost::join(request.rest(), "/");
  if (path.empty()) path = index_file;
  if (files_.empty() && path == index_file) co_return left_out();
  const auto* found = path == frame_file ? nullptr : find(path);
  if (!found) throw nothing_found();
  co_return answer_with(request, *found);
}

Answer PageRoutes::frame(const Request& request) {
  const auto* found = find(frame_file);
  if (!found) throw nothing_found();
  return answer_with(request, *found);
}

const PageFile* PageRoutes::find(std::string_view path) const {
  const auto found = std::ranges::find(files_, path, &PageFile::path);
  return found == files_.end() ? nullptr : &*found;
}

}  // namespace agw
