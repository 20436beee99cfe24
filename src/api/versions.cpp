#include "api/versions.hpp"

#include <string>
#include <vector>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "api/request.hpp"

namespace agw {

namespace {

std::string_view opaque_part(std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; }

}  // namespace

bool has_version(const Request& request, std::string_view tag) {
  for (const auto& [name, value] : request.headers) {
    if (name != "if-none-match") continue;
    std::vector<std::string> entries;
    boost::split(entries, value, boost::is_any_of(","));
    for (auto& entry : entries) {
      boost::trim(entry);
      if (entry == "*" || opaque_part(entry) == opaque_part(tag)) return true;
    }
  }
  return false;
}

}  // namespace agw
