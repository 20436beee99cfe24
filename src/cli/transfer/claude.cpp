// The export of Claude (Settings, Privacy, Export data): an archive with conversations.json, an array of conversations
// with `chat_messages`. Newer ones have `content`, a list of blocks as in Anthropic's API, and `parent_message_uuid`;
// older ones only `text`. The vendor does not document the format; this follows https://github.com/darknodebros/EleSync
// (release v1.5.3) and https://github.com/davidteren/claude_desktop_export_browser.

#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

/// The export contains the content of attached texts, but only the names of other files.
void read_attached_files(Importer& importer, const json::object& from, SourceMessage& message) {
  for (const auto* member : {"attachments", "files", "files_v2"}) {
    const auto* files = array_member(from, member);
    for (const auto& each : files ? *files : json::array()) {
      auto name = each.is_object() ? string_or_empty(each.get_object(), "file_name") : std::string();
      auto content = each.is_object() ? string_or_empty(each.get_object(), "extracted_content") : std::string();
      if (!content.empty())
        message.files.push_back({name.empty() ? "text" : std::move(name), "text/plain", std::move(content)});
      else if (!name.empty()) {
        add_paragraph(message.text, fmt::format("[file: {}]", name));
        importer.leave_one_of("files", "are named in conversations, but the export lacks them");
      }
    }
  }
}

SourceMessage claude_message(Importer& importer, const json::object& from) {
  SourceMessage message{
      .id = string_or_empty(from, "uuid"), .parent = {}, .role = Role::user, .text = {}, .reasoning = {}};
  if (const auto parent = string_member(from, "parent_message_uuid")) message.parent = std::string(*parent);
  if (string_or_empty(from, "sender") == "assistant") message.role = Role::assistant;
  message.at = time_in(from, "created_at");
  if (const auto* content = array_member(from, "content"); content && !content->empty()) read_blocks(*content, message);
  if (message.text.empty() && message.calls.empty()) message.text = string_or_empty(from, "text");
  read_attached_files(importer, from, message);
  leave_parts(importer, message);
  return message;
}

void read_claude_conversation(Importer& importer, const json::object& from) {
  const auto id = string_or_empty(from, "uuid");
  const auto title = string_or_empty(from, "name");
  const auto* messages = array_member(from, "chat_messages");
  if (id.empty() || !messages) {
    importer.leave("conversation " + (title.empty() ? "without a title" : title),
                   "has no uuid or no chat_messages: another program's, or a newer format");
    return;
  }
  SourceConversation conversation;
  conversation.head.key = id;
  if (!title.empty()) conversation.head.title = title;
  conversation.head.created_at = time_in(from, "created_at");
  conversation.head.updated_at = time_in(from, "updated_at");
  std::optional<std::string> before;
  for (const auto& each : *messages) {
    if (!each.is_object()) continue;
    auto message = claude_message(importer, each.get_object());
    if (message.id.empty()) {
      message.id = fmt::format("message-{}", conversation.messages.size());
      take_files(importer, id, message);
    }
    if (!message.parent) message.parent = before;
    before = message.id;
    conversation.messages.push_back(std::move(message));
  }
  if (const auto current = string_member(from, "current_leaf_message_uuid"))
    conversation.current = std::string(*current);
  import_conversation(importer, std::move(conversation));
}

}  // namespace

void read_claude(Importer& importer, const std::filesystem::path& path) {
  for_each_conversation(importer, path, [&](const json::object& from) { read_claude_conversation(importer, from); });
  read_claude_projects(importer, path);
}

}  // namespace agw::cli
