#include "server/http/path_template.hpp"

#include <boost/algorithm/string/case_conv.hpp>

namespace agw {

PathTemplate path_template(std::string_view path) {
  PathTemplate made;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool named = segment.starts_with(':') || segment.starts_with('*');
    if (named) made.names.emplace_back(segment == "*" ? "rest" : segment.substr(1));
    made.path += named ? "/{" + made.names.back() + "}" : "/" + std::string(segment);
  }
  return made;
}

std::string tag_of(const Route& route) { return route.path.substr(1, route.path.find('/', 1) - 1); }

std::string lower_case_name(Method method) { return boost::to_lower_copy(std::string(to_text(method))); }

}  // namespace agw
