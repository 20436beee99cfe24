#pragma once

#include <span>
#include <string_view>

namespace agw {

/// A file of the web page, compiled into the binary in every form in which it is sent.
struct PageFile {
  std::string_view path;  ///< relative to `/ui/`, such as `assets/index-3f9a.js`
  std::string_view content;
  std::string_view brotli;  ///< the same, compressed; empty where that is not shorter
  std::string_view gzip;    ///< likewise
  std::string_view tag;     ///< differs with the content
};

/// All of them, sorted by path; none where the build left the page out.
std::span<const PageFile> page_files();

}  // namespace agw
