#include <cstdlib>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "cli/commands/programs.hpp"
#include "io/files/atomic_file.hpp"

namespace agw::cli {

void write_link(const std::filesystem::path& file, const std::string& link, const std::string& about) {
  auto escaped = boost::replace_all_copy(link, "&", "&amp;");
  boost::replace_all(escaped, "\"", "&quot;");
  boost::replace_all(escaped, "<", "&lt;");
  replace_file(
      file,
      fmt::format("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
                  "<title>Agent Gateway</title>\n<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
                  "<p><a href=\"{0}\">{1}</a></p>\n",
                  escaped, about),
      0600);
}

bool open_in_browser(const std::filesystem::path& file) {
  const char* browser = std::getenv("BROWSER");
  const std::string program = browser && *browser ? browser : "xdg-open";
  return run_program({program, file.string()}) == 0;
}

}  // namespace agw::cli
