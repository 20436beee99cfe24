#include "cli/transfer/left_behind.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include "base/containers.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

bool is_named(const KnownEntry& known, std::string_view name) {
  return known.name.ends_with('*') ? name.starts_with(known.name.substr(0, known.name.size() - 1)) : known.name == name;
}

bool has_something(const fs::path& path) {
  std::error_code failed;
  return !fs::is_directory(path, failed) || !fs::is_empty(path, failed);
}

/// The paths of the entries, sorted.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

/// Returns null if the name is unknown.
const KnownEntry* find_known(std::span<const KnownEntry> known, const fs::path& path) {
  const auto name = path.filename().string();
  const auto found = std::ranges::find_if(known, [&](const auto& each) { return is_named(each, name); });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace

void require_contents(const fs::path& folder, std::span<const KnownEntry> known, std::string_view program) {
  if (!fs::is_directory(folder)) throw std::runtime_error(folder.string() + ": there is no such folder");
  const auto is_read = [&](const fs::path& path) {
    const auto* found = find_known(known, path);
    return found && found->why.empty();
  };
  if (std::ranges::any_of(entries_of(folder), is_read)) return;
  throw std::runtime_error(
      fmt::format("{}: has nothing of {} to import, such as {}", folder.string(), program, known.front().name));
}

void leave_entry(Importer& importer, const std::string& path, std::span<const KnownEntry> known) {
  const auto* found = find_known(known, path);
  if (!found)
    importer.leave(path, "is nothing that is known here");
  else if (!found->why.empty())
    importer.leave(path, std::string(found->why));
}

void leave_entries(Importer& importer, const fs::path& folder, std::span<const KnownEntry> known) {
  for (const auto& path : entries_of(folder)) {
    if (has_something(path)) leave_entry(importer, path.string(), known);
  }
}

void leave_other_files(Importer& importer, const fs::path& folder, std::string_view extension) {
  std::error_code failed;
  const auto options = fs::directory_options::skip_permission_denied;
  for (const auto& entry : fs::recursive_directory_iterator(folder, options, failed)) {
    if (entry.is_regular_file(failed) && !has_extension(entry.path(), extension))
      importer.leave_one_of("files in " + folder.string(), fmt::format("are no `{}` files", extension));
  }
}

void leave_settings(Importer& importer, const std::string& what, const json::object& settings,
                    std::initializer_list<std::string_view> taken) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) {
    if (!contains(taken, std::string_view(name))) names.emplace_back(name);
  }
  if (!names.empty())
    importer.leave(fmt::format("{} of {}", boost::algorithm::join(names, ", "), what), "have no counterpart here");
}

void leave_parts(Importer& importer, const SourceMessage& message) {
  for (const auto& kind : message.unknown)
    importer.leave_one_of(fmt::format("parts `{}` of messages", kind), "have no counterpart here");
}

}  // namespace agw::cli
