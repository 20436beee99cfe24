#pragma once

#include <span>

#include "api/route.hpp"
#include "server/documents/page_files.hpp"

namespace agw {

/// `/ui/`: the web page. Its files contain no data, so they need no token; the headers of every response restrict what
/// the page may do in a browser. If `files` is empty, `/ui/` is a page that says that the page was not compiled in.
Routes page_routes(std::span<const PageFile> files = page_files());

}  // namespace agw
