#include "config/origins.hpp"

#include <algorithm>

namespace agw {

namespace {

/// The line of the entry `key`, such as `retention.days`; 0 if it is missing or has no value.
int line_of(std::string_view key, const ConfigNode& file) {
  const auto* node = &file;
  for (std::size_t begin = 0; begin < key.size();) {
    const auto dot = std::min(key.find('.', begin), key.size());
    node = node->member(key.substr(begin, dot - begin));
    if (!node) return 0;
    begin = dot + 1;
  }
  return node->form == ConfigNode::Form::nothing ? 0 : node->line;
}

}  // namespace

Origin origin_of(const Key<Settings>& key, const SettingsSources& sources, const ConfigNode& file) {
  Origin origin{.line = line_of(key.name, file)};
  if (sources.flags.contains(std::string(key.name)))
    origin.source = ValueSource::flag;
  else if (!key.environment.empty() && sources.environment(std::string(key.environment)))
    origin.source = ValueSource::variable;
  else if (origin.line > 0)
    origin.source = ValueSource::file;
  return origin;
}

}  // namespace agw
