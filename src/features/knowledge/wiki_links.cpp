#include "features/knowledge/wiki_links.hpp"

#include <algorithm>

#include <boost/algorithm/string.hpp>
#include <boost/url/pct_string_view.hpp>

namespace agw {

namespace {

constexpr std::size_t max_link_length = 200;

}  // namespace

std::vector<WikiLink> wiki_links_of(std::string_view text) {
  std::vector<WikiLink> links;
  for (std::size_t place = text.find("[["); place != text.npos; place = text.find("[[", place)) {
    const auto close = text.find_first_of("[]\n", place + 2);
    if (close == text.npos) break;
    const auto inner = text.substr(place + 2, close - place - 2);
    if (text.substr(close, 2) != "]]" || inner.size() > max_link_length) {
      place += text[close] == '[' && close == place + 2 ? 1 : 2;
      continue;
    }
    const auto bar = inner.find('|');
    const auto target = boost::trim_copy(inner.substr(0, std::min(bar, inner.find('#'))));
    const auto label = bar == inner.npos ? std::string_view() : boost::trim_copy(inner.substr(bar + 1));
    if (!target.empty()) links.push_back({place, close + 2, target, label});
    place = close + 2;
  }
  return links;
}

std::string linked_file(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  if (address.find(':') != address.npos || address.starts_with('/')) return {};
  const auto slash = address.rfind('/');
  if (slash != address.npos) address.remove_prefix(slash + 1);
  for (const std::string_view ending : {".md", ".markdown"}) {
    if (address.size() > ending.size() && boost::iends_with(address, ending)) {
      const auto name = address.substr(0, address.size() - ending.size());
      const auto encoded = boost::urls::make_pct_string_view({name.data(), name.size()});
      return encoded ? encoded->decode() : std::string(name);
    }
  }
  return {};
}

}  // namespace agw
