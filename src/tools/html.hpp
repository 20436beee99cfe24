#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// What a reader of HTML is told, in the order of the page. Every element that is opened is closed. All text is UTF-8.
class HtmlEvents {
public:
  using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;

  virtual ~HtmlEvents() = default;
  virtual void open(std::string_view element, const Attributes& attributes) = 0;
  virtual void close(std::string_view element) = 0;
  virtual void text(std::string_view text) = 0;
};

/// Reads a page, however broken, with libxml2. Returns why the rest of it was not read, for people; empty where all of
/// it was. A page cannot make this take long: depth, tags and time are bounded. Blocks: not for the loop.
std::string read_html(std::string_view utf8, HtmlEvents& events);

}  // namespace agw
