#include <fmt/format.h>
#include <fmt/ranges.h>

#include "features/knowledge/compile.hpp"

namespace agw {

namespace {

constexpr std::size_t max_named = 20;

std::string named(const std::vector<std::string>& names) {
  if (names.size() <= max_named) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + max_named, ", "),
                     names.size() - max_named);
}

void add_line(std::string& text, std::string_view what, const std::vector<std::string>& names) {
  if (!names.empty()) text += fmt::format("- {} ({}): {}\n", what, names.size(), named(names));
}

}  // namespace

std::string report_title(const CompileReport& report) {
  return fmt::format("{} made, {} changed, {} kept", report.made.size(), report.changed.size(), report.kept.size());
}

std::string report_text(const CompileReport& report) {
  std::string text = report.dry ? "Dry run: this is what would be done.\n\n" : "";
  text += fmt::format("Looked at {} source{}.\n\n", report.sources, report.sources == 1 ? "" : "s");
  if (!report.anything()) text += "Nothing has changed.\n";
  add_line(text, "made", report.made);
  add_line(text, "changed", report.changed);
  add_line(text, "kept, because a person changed them", report.kept);
  add_line(text, "cannot become pages", report.unusable);
  if (report.stopped) text += "\nStopped before everything was done.\n";
  return text;
}

}  // namespace agw
