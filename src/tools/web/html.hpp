#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// The events of an HTML parser, in document order. Every opened element is closed. All text is UTF-8.
class HtmlEvents {
public:
  using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;

  virtual ~HtmlEvents() = default;
  virtual void open(std::string_view element, const Attributes& attributes) = 0;
  virtual void close(std::string_view element) = 0;
  virtual void text(std::string_view text) = 0;
};

/// Parses a page with libxml2, even if it is malformed. Returns why the rest of it was not read, for people; empty if
/// all of it was read. Depth, tags and time are limited. Blocks: not for the loop.
std::string read_html(std::string_view utf8, HtmlEvents& events);

}  // namespace agw
