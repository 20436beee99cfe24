#include "tools/web/markdown.hpp"

#include <boost/algorithm/string/trim.hpp>

#include "tools/web/html.hpp"

namespace agw {

ReadablePage html_to_markdown(std::string_view utf8, const WebUrl& url) {
  MarkdownWriter writer(url);
  ReadablePage page;
  page.problem = read_html(utf8, writer);
  page.title = writer.take_title();
  page.markdown = boost::trim_right_copy(writer.take_markdown());
  return page;
}

}  // namespace agw
