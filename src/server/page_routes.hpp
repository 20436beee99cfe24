#pragma once

#include <span>

#include "api/route.hpp"
#include "server/page_files.hpp"

namespace agw {

/// `/ui/`: the web page. Its files hold no data, so that they need no token; what it may do in a browser is said by the
/// fields that each answer carries.
class PageRoutes {
public:
  /// Without files it answers a page that says so.
  explicit PageRoutes(std::span<const PageFile> files = page_files()) : files_(files) {}
  Routes routes();

private:
  Answer enter(const Request& request);
  Task<Answer> file(Request& request);
  Answer frame(const Request& request);
  const PageFile* find(std::string_view path) const;

  std::span<const PageFile> files_;
};

}  // namespace agw
