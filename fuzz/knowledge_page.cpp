// Pages of knowledge and skills, written by people and agents: a parsed page is serialised, and the result parses as
// the same page.

#include <string>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/json/json.hpp"
#include "features/knowledge/page_text.hpp"
#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/wiki_links.hpp"
#include "features/skills/skill_text.hpp"
#include "fuzz/support/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using agw::fuzzing::require;
  const auto text = agw::fuzzing::text_of(data, size);
  const auto page = agw::read_page_text(text);
  if (page.problem.empty()) {
    const auto again = agw::read_page_text(agw::write_page_text(page));
    const auto ends = boost::is_any_of("\r\n");  // files end with a line feed, and bodies begin after an empty line
    require(again.problem.empty() && again.head.title == page.head.title);
    require(boost::trim_copy_if(again.body, ends) == boost::trim_copy_if(page.body, ends));
    require(again.head.tags == page.head.tags && again.head.entities == page.head.entities);
  }
  std::size_t last = 0;
  for (const auto& link : agw::wiki_links_of(text)) {
    require(link.begin >= last && link.begin < link.end && link.end <= text.size());
    last = link.end;
    agw::linked_file(link.target);
  }
  require(agw::search_terms(text).size() <= agw::max_search_terms);
  std::string why;
  require(agw::read_skill_text(text, why).has_value() || !why.empty());
  return 0;
}
