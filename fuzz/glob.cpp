// Glob patterns of agents and `.gitignore` files of projects: a pattern is rejected, or matches in linear time. The
// first line is a path.

#include <string>

#include "api/error.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "tools/search/glob.hpp"
#include "tools/search/glob_pattern.hpp"
#include "tools/search/grep.hpp"
#include "tools/search/ignore_rules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = agw::fuzzing::text_of(data, size);
  const std::string path(agw::fuzzing::take_line(text));
  const std::string pattern(text);
  for (const auto syntax : {agw::GlobPattern::Syntax::shell, agw::GlobPattern::Syntax::gitignore}) {
    try {
      agw::GlobPattern(pattern, syntax).matches(path);
    } catch (const agw::ApiError&) {
    }
  }
  const auto start =
      agw::start_of_glob("/home/person", pattern, {.home = "/home/person", .data_directory = "/data", .agent = "a"});
  agw::fuzzing::require(start.directory.is_absolute());
  agw::ripgrep_can({.pattern = pattern, .glob = path});
  agw::IgnoreRules().below("src", pattern).below(path, pattern).ignores(path, true);
  return 0;
}
