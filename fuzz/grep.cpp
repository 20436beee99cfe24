// Grep without ripgrep: a pattern and a glob, one line each, then the text of a file. Each match is an existing line of
// the file, and the output is valid text.

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>

#include "api/error.hpp"
#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "testing/scratch_directory.hpp"
#include "tools/search/grep.hpp"

namespace {

using namespace agw;

void search(const FileRoots& roots, const GrepQuery& query, std::string_view text, const OpenedPath& start) {
  const auto found = search_by_walking(start, query, roots, std::make_shared<const std::atomic<bool>>(false));
  const auto line_count = std::ranges::count(text, '\n') + 1;
  for (const auto& file : found.files) {
    fuzzing::require(!file.lines.empty() && std::ranges::is_sorted(file.lines));
    fuzzing::require(file.lines.front() >= 1 && file.lines.back() <= line_count);
  }
  for (const auto& excerpt : read_matches(start, found.files, 1, roots)) fuzzing::require(is_utf8(excerpt.text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::ScratchDirectory home;
  static const auto project = home.path() / "project";
  std::filesystem::create_directory(project);
  auto text = fuzzing::text_of(data, size);
  GrepQuery query{.pattern = to_utf8(fuzzing::take_line(text)), .glob = to_utf8(fuzzing::take_line(text))};
  query.ignore_case = size % 2 != 0;
  std::ofstream(project / "file.txt", std::ios::binary) << text;
  const FileRoots roots{
      .home = home.path(), .data_directory = home.path() / "data", .agent = "agent", .project = project};
  try {
    search(roots, query, text, locate(project, roots));
    search(roots, query, text, locate(project / "file.txt", roots));
  } catch (const ApiError& error) {
    fuzzing::require(is_utf8(error.what()));
  }
  return 0;
}
