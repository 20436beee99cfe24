#pragma once

#include <string>
#include <string_view>

#include "io/http/web_url.hpp"

namespace agw {

/// A web page as a person reads it.
struct ReadablePage {
  std::string title;
  std::string markdown;  ///< headings, lists, tables, code, links with whole addresses; no scripts, styles, markup
  std::string problem;   ///< why the end of the page is missing, for people; empty if it is not
};

/// `url` is the base of relative links. Blocks: not for the loop.
ReadablePage html_to_markdown(std::string_view utf8, const WebUrl& url);

}  // namespace agw
