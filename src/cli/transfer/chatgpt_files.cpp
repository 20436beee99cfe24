#include "cli/transfer/chatgpt_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/source_files.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

constexpr std::string_view prefix = "file";

constexpr auto unread_by_chatgpt = std::to_array<KnownEntry>({
    {"chat.html"},
    {"conversation_asset_file_names.json"},
    {"export_manifest.json"},
    {"message_feedback.json", "are votes on answers"},
    {"model_comparisons.json", "are votes on answers"},
    {"shared_conversations.json", "are links to conversations"},
    {"user.json", "is the account"},
    {"user_settings.json", "is the account"},
});

/// The id at the start of `text`: `file-` or `file_` and the characters after it; empty if there is none.
std::string_view id_at_start(std::string_view text) {
  if (text.size() <= prefix.size() || !text.starts_with(prefix)) return {};
  if (text[prefix.size()] != '-' && text[prefix.size()] != '_') return {};
  const auto end = std::find_if_not(text.begin() + prefix.size() + 1, text.end(), is_alphanumeric);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// The original name of the file; the exported one if the original is lost.
std::string own_name(const std::string& name, std::string_view id) {
  const auto rest = name.substr(std::min(id.size() + 1, name.size()));
  const bool is_lost = name.size() <= id.size() || name[id.size()] == '.' || rest.empty();
  return is_lost ? name : rest;
}

/// The original names by the ids of the files.
std::map<std::string, std::string> names_in(Importer& importer, const std::filesystem::path& path) {
  std::map<std::string, std::string> names;
  const auto is_list = [](const std::filesystem::path& file) {
    return file.filename() == "conversation_asset_file_names.json";
  };
  for_each_record(importer, path, "list", is_list, [&](const json::object& list) {
    for (const auto& [file, name] : list) {
      if (name.is_string()) names.emplace(id_at_start(std::string_view(file)), std::string_view(name.get_string()));
    }
  });
  return names;
}

}  // namespace

ChatgptFiles::ChatgptFiles(Importer& importer, const std::filesystem::path& path) {
  const auto names = names_in(importer, path);
  for_each_file(path, [&](const ExportedFile& file) {
    const auto name = std::filesystem::path(file.path).filename().string();
    const std::string id(id_at_start(name));
    if (id.empty())
      return has_conversations(file.path, path) ? void() : leave_entry(importer, file.path, unread_by_chatgpt);
    importer.show_progress("files", found_.size(), 0);
    const auto listed = names.find(id);
    auto original = listed == names.end() ? own_name(name, id) : listed->second;
    if (auto made = importer.add_attachment(id, {std::move(original), {}, content_of(file.read)}))
      found_.insert_or_assign(id, *std::move(made));
  });
}

std::optional<json::object> ChatgptFiles::find(const std::string& id) {
  if (const auto found = found_.find(id); found != found_.end()) return found->second;
  ++missing_;
  return std::nullopt;
}

std::string file_id_in(const std::string& address) {
  const auto start = address.rfind(prefix);
  const auto id = start == address.npos ? std::string_view() : id_at_start(std::string_view(address).substr(start));
  return id.empty() ? address : std::string(id);
}

}  // namespace agw::cli
