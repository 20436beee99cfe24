#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "api/route.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// A file of the web page, compiled into the binary.
struct PageFile {
  std::string_view path;     ///< relative to `/ui/`, such as `assets/index-3f9a.js`
  std::string_view content;  ///< empty if `brotli` holds it
  std::string_view brotli;   ///< compressed content; empty if that is not shorter
  std::size_t size = 0;      ///< of the uncompressed content
  std::string_view tag;      ///< changes with the content
};

/// All files, sorted by path; empty if the build has no page.
std::span<const PageFile> page_files();

/// The headers of every response below `/ui/` that is not a frame: what the page may do in a browser.
Fields page_fields();

/// `/ui/`: the web page. Its files contain no data, so they need no token; the headers of every response restrict what
/// the page may do in a browser. For clients that do not accept brotli, such as browsers over plain HTTP from another
/// machine, `blocking`, which must outlive the routes, converts the content. If `files` is empty, `/ui/` is a page that
/// says that the page was not compiled in.
/// Example: src/server/documents/page_routes_test.cpp: Page.HasAnEncodingThatTheBrowserAccepts
Routes page_routes(BlockingPool& blocking, std::span<const PageFile> files = page_files());

}  // namespace agw
