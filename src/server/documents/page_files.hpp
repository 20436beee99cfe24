#pragma once

#include <span>
#include <string_view>

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

}  // namespace agw
