// The projects of Claude's export: projects.json, an array, or one file per project in projects/. Each has `name`,
// `description`, its instructions in `prompt_template`, and `docs` with complete texts. The export does not state which
// conversations belong to a project (https://github.com/anthropics/claude-code/issues/40411).

#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_description = 500;
constexpr std::size_t max_document_bytes = 1024 * 1024;

bool is_projects(const fs::path& file) {
  if (file.extension() != ".json") return false;
  return file.filename() == "projects.json" || file.parent_path().filename() == "projects";
}

/// Entries of an export that contains more than conversations.
constexpr auto unread_by_claude = std::to_array<KnownEntry>({
    {"memories.json", "is what Claude remembers: copy what you need into knowledge"},
    {"users.json", "is the account"},
});

void read_document(Importer& importer, const json::object& from, const std::string& agent,
                   std::set<std::string>& names) {
  const auto file_name = string_or_empty(from, "filename");
  const auto content = string_or_empty(from, "content");
  if (content.empty()) return;
  const auto what = fmt::format("document {} of {}", file_name, agent);
  if (content.size() > max_document_bytes) return importer.leave(what, "is larger than 1 MiB");
  const auto stem = fs::path(file_name).stem().string();
  const auto base = extension_name_from(stem, "document");
  auto name = base;
  for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}-{}", base, number);
  if (name != stem) importer.note(fmt::format("{} is named {} here", what, name));
  importer.add_file("knowledge pages", fs::path("agents") / agent / "knowledge" / (name + ".md"), content, what);
}

void read_project(Importer& importer, const json::object& from) {
  const auto id = string_or_empty(from, "uuid");
  const auto name = string_or_empty(from, "name");
  const auto instructions = string_or_empty(from, "prompt_template");
  const auto* documents = array_member(from, "docs");
  if (instructions.empty() && (!documents || documents->empty()))
    return importer.leave("project " + name, "has neither instructions nor documents");
  auto description = string_or_empty(from, "description");
  if (description.empty()) description = fmt::format("The project {} of Claude", name);
  const auto agent = importer.add_extension({{"type", "agent"},
                                             {"name", extension_name_from("claude-" + name, "claude-project")},
                                             {"description", shortened(description, max_description)},
                                             {"definition", json::object()}},
                                            "projects/" + id);
  importer.add_identity("soul", agent, instructions, "instructions of project " + name);
  std::set<std::string> names;
  for (const auto& each : documents ? *documents : json::array()) {
    if (each.is_object()) read_document(importer, each.get_object(), agent, names);
  }
}

}  // namespace

void read_claude_projects(Importer& importer, const fs::path& path) {
  bool is_first = true;
  const auto is_wanted = [&](const fs::path& file) {
    const bool is_read = is_projects(file);
    if (!is_read && !has_conversations(file, path)) leave_entry(importer, file.string(), unread_by_claude);
    return is_read;
  };
  for_each_record(importer, path, "project", is_wanted, [&](const json::object& from) {
    // Every account has this project, with documents about Claude.
    if (is_true(from, "is_starter_project")) return;
    if (std::exchange(is_first, false))
      importer.note("projects become agents: the export does not say which conversations belong to them");
    read_project(importer, from);
  });
}

}  // namespace agw::cli
