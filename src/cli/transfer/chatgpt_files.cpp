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

}  // namespace

ChatgptFiles::ChatgptFiles(Importer& importer, const std::filesystem::path& path) {
  for_each_file(path, [&](const ExportedFile& file) {
    const auto name = std::filesystem::path(file.path).filename().string();
    const std::string id(id_at_start(name));
    if (id.empty())
      return has_conversations(file.path, path) ? void() : leave_entry(importer, file.path, unread_by_chatgpt);
    importer.show_progress("files", found_.size(), 0);
    if (auto made = importer.add_attachment(id, {own_name(name, id), {}, content_of(file.read)}))
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
