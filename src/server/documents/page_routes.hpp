#pragma once

#include <span>
#include <string_view>

#include "api/route.hpp"

namespace agw {

/// A file of the web page, compiled into the binary in the encodings in which clients ask for it.
struct PageFile {
  std::string_view path;     ///< relative to `/ui/`, such as `assets/index-3f9a.js`
  std::string_view content;  ///< empty if there is `gzip`, which holds it too
  std::string_view brotli;   ///< compressed content; empty if that is not shorter
  std::string_view gzip;     ///< likewise
  std::string_view tag;      ///< changes with the content
};

/// All files, sorted by path; empty if the build left out the page.
std::span<const PageFile> page_files();

/// `/ui/`: the web page. Its files contain no data, so they need no token; the headers of every response restrict what
/// the page may do in a browser. If `files` is empty, `/ui/` is a page that says that the page was not compiled in.
/// Example: src/server/documents/page_routes_test.cpp: Page.GoesInTheFormThatTheBrowserTakes
Routes page_routes(std::span<const PageFile> files = page_files());

}  // namespace agw
