// The export of ChatGPT (Settings, Data controls): an archive with conversations.json, or conversations-000.json and so
// on, an array of conversations. Each has a `mapping` of nodes with `message`, `parent` and `children`, and the id of
// the `current_node`. The vendor does not document the format; this follows
// https://github.com/mitkury/chatgpt-export-parser (docs/chatgpt-data-export-format.md) and
// https://github.com/josephjohncox/chatgpt-json-to-md. Files are described in https://github.com/mitkury (above) and
// https://github.com/jack-driscoll/chatgpt-dataexport.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/chatgpt_files.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

/// Concatenates the texts in `parts`.
std::string parts_of(const json::object& content) {
  std::string text;
  const auto* parts = array_member(content, "parts");
  for (const auto& part : parts ? *parts : json::array()) {
    std::string piece;
    if (part.is_string()) piece = std::string(part.get_string());
    if (const auto* object = part.if_object()) piece = string_or_empty(*object, "text");
    add_paragraph(text, piece);
  }
  return text;
}

std::string thoughts_of(const json::object& content) {
  std::string text;
  const auto* thoughts = array_member(content, "thoughts");
  for (const auto& thought : thoughts ? *thoughts : json::array()) {
    const auto* object = thought.if_object();
    const auto piece = object ? string_or_empty(*object, "content") : std::string();
    add_paragraph(text, piece);
  }
  return text;
}

std::string chatgpt_text(const json::object& content) {
  const auto type = string_or_empty(content, "content_type");
  if (content.contains("parts")) return parts_of(content);
  auto text = content.contains("text") ? string_or_empty(content, "text") : string_or_empty(content, "result");
  if (type == "code" && !text.empty()) {
    const auto language = string_or_empty(content, "language");
    return fmt::format("```{}\n{}\n```", language == "unknown" ? "" : language, text);
  }
  return text;
}

/// The link that a reference to a source is shown as.
std::string link_of(const json::object& reference) {
  auto link = string_or_empty(reference, "alt");
  const auto* items = array_member(reference, "items");
  const auto* item = items && !items->empty() ? items->front().if_object() : nullptr;
  if (link.empty() && item)
    link = fmt::format(" [{}]({})", string_or_empty(*item, "title"), string_or_empty(*item, "url"));
  return link;
}

/// Replaces the marks of citations, texts between two private characters, with their links if the export has them.
std::string with_links(const json::object& from, std::string_view text) {
  constexpr std::string_view begin = "\ue200", end = "\ue201";
  std::map<std::string, std::string, std::less<>> links;
  const auto* metadata = object_member(from, "metadata");
  const auto* references = metadata ? array_member(*metadata, "content_references") : nullptr;
  for (const auto& each : references ? *references : json::array()) {
    const auto* reference = each.if_object();
    if (reference) links[string_or_empty(*reference, "matched_text")] = link_of(*reference);
  }
  std::string linked;
  for (auto at = text.find(begin); at != text.npos; at = text.find(begin)) {
    const auto last = text.find(end, at);
    if (last == text.npos) break;
    const auto link = links.find(text.substr(at, last + end.size() - at));
    linked.append(text.substr(0, at)).append(link == links.end() ? "" : link->second);
    text.remove_prefix(last + end.size());
  }
  return linked.append(text);
}

/// A file that a message refers to.
struct FileReference {
  std::string id;
  std::string name;
};

/// Files are listed by name in the metadata and by address in the parts: pictures and sounds, including generated ones.
/// Many are in both.
std::vector<FileReference> references_in(const json::object& from, const json::object& content) {
  std::vector<FileReference> references;
  const auto add = [&](const std::string& address, std::string name) {
    auto id = file_id_in(address);
    const bool is_known = std::ranges::any_of(references, [&](const auto& each) { return each.id == id; });
    if (!id.empty() && !is_known) references.push_back({std::move(id), std::move(name)});
  };
  const auto metadata = object_or_empty(from, "metadata");
  const auto* attached = array_member(metadata, "attachments");
  for (const auto& each : attached ? *attached : json::array()) {
    if (each.is_object()) add(string_or_empty(each.get_object(), "id"), string_or_empty(each.get_object(), "name"));
  }
  const auto* parts = array_member(content, "parts");
  for (const auto& part : parts ? *parts : json::array()) {
    if (!part.is_object()) continue;
    add(string_or_empty(part.get_object(), "asset_pointer"), {});
    add(string_or_empty(object_or_empty(part.get_object(), "audio_asset_pointer"), "asset_pointer"), {});
  }
  return references;
}

/// A tool call is a message to the tool. Its result is the next message from that tool, which does not name the call.
class Messages {
public:
  Messages(Importer& importer, ChatgptFiles& files) : importer_(importer), files_(files) {}

  SourceMessage message(const std::string& id, const json::object& node) {
    SourceMessage message{.id = id, .parent = {}, .role = Role::system, .text = {}, .reasoning = {}};
    if (const auto parent = string_member(node, "parent")) message.parent = std::string(*parent);
    const auto* from = object_member(node, "message");
    if (from && is_hidden(*from) && !chatgpt_text(object_or_empty(*from, "content")).empty())
      importer_.leave_one_of("messages", "are hidden: what ChatGPT tells its model");
    if (from && !is_hidden(*from)) {
      read(*from, message);
      note_unknown(*from, message);
      leave_parts(importer_, message);
      for (const auto& reference : references_in(*from, object_or_empty(*from, "content")))
        add_file(reference, message);
    }
    return message;
  }

private:
  static bool is_hidden(const json::object& from) {
    const auto* metadata = object_member(from, "metadata");
    return metadata && is_true(*metadata, "is_visually_hidden_from_conversation");
  }

  static void read(const json::object& from, SourceMessage& message) {
    const auto author = object_or_empty(from, "author");
    const auto content = object_or_empty(from, "content");
    const auto role = string_or_empty(author, "role");
    message.at = time_in(from, "create_time");
    if (role == "assistant") read_answer(from, content, message);
    if (role == "user") {
      message.role = Role::user;
      message.text = chatgpt_text(content);
    }
    if (role == "tool") {
      message.role = Role::tool;
      message.results.push_back({string_or_empty(author, "name"), chatgpt_text(content)});
    }
    if (role == "system") message.text = chatgpt_text(content);
  }

  static void read_answer(const json::object& from, const json::object& content, SourceMessage& message) {
    message.role = Role::assistant;
    message.model = string_or_empty(object_or_empty(from, "metadata"), "model_slug");
    const auto recipient = string_or_empty(from, "recipient");
    const auto type = string_or_empty(content, "content_type");
    if (type == "thoughts")
      message.reasoning = thoughts_of(content);
    else if (type == "reasoning_recap")
      message.reasoning = string_or_empty(content, "content");
    else if (!recipient.empty() && recipient != "all")
      message.calls.push_back(
          {recipient,
           recipient,
           {{"input", content.contains("text") ? string_or_empty(content, "text") : parts_of(content)}}});
    else
      message.text = with_links(from, chatgpt_text(content));
  }

  /// Attaches the file if the export contains it, and otherwise names it. Also names it in messages other than a
  /// person's, for which attachments are not shown.
  void add_file(const FileReference& reference, SourceMessage& message) {
    auto found = files_.find(reference.id);
    if (found && !reference.name.empty()) (*found)["name"] = reference.name;
    if (!found || message.role != Role::user) {
      auto& text = message.results.empty() ? message.text : message.results.back().output;
      const auto name = found ? string_or_empty(*found, "name") : reference.name;
      add_paragraph(text, fmt::format("[file: {}]", name.empty() ? reference.id : name));
    }
    if (found) message.attachments.push_back(*std::move(found));
  }

  /// Notes content of unknown kinds, and parts of such kinds.
  static void note_unknown(const json::object& from, SourceMessage& message) {
    const auto content = object_or_empty(from, "content");
    const auto* parts = array_member(content, "parts");
    for (const auto& part : parts ? *parts : json::array()) {
      const auto* object = part.if_object();
      if (!object || object->contains("asset_pointer") || object->contains("audio_asset_pointer")) continue;
      if (string_or_empty(*object, "text").empty()) message.unknown.push_back(string_or_empty(*object, "content_type"));
    }
    const bool is_read = parts || has_content(message) || content.contains("text") || content.contains("result");
    if (!is_read) message.unknown.push_back(string_or_empty(content, "content_type"));
  }

  Importer& importer_;
  ChatgptFiles& files_;
};

/// Gives each call the id of its message. A result belongs to the latest call of its tool above it.
void name_calls(std::vector<SourceMessage>& messages) {
  std::map<std::string, const SourceMessage*> by_id;
  for (const auto& message : messages) by_id.emplace(message.id, &message);
  for (auto& message : messages) {
    for (auto& result : message.results) {
      const auto tool = result.call_id;
      auto above = message.parent ? by_id.find(*message.parent) : by_id.end();
      for (int steps = 0; above != by_id.end() && steps < 50; ++steps) {
        const auto& calls = above->second->calls;
        if (!calls.empty() && (calls.front().name == tool || tool.starts_with(calls.front().name) ||
                               calls.front().name.starts_with(tool))) {
          result.call_id = above->second->id;
          break;
        }
        const auto& parent = above->second->parent;
        above = parent ? by_id.find(*parent) : by_id.end();
      }
    }
  }
  for (auto& message : messages) {
    for (auto& call : message.calls) call.id = message.id;
  }
}

void read_chatgpt_conversation(Importer& importer, ChatgptFiles& files, const json::object& from) {
  auto id = string_or_empty(from, "conversation_id");
  if (id.empty()) id = string_or_empty(from, "id");
  const auto title = string_or_empty(from, "title");
  const auto* mapping = object_member(from, "mapping");
  if (id.empty() || !mapping) {
    importer.leave("conversation " + (title.empty() ? "without a title" : title),
                   "has no id or no mapping: another program's, or a newer format");
    return;
  }
  SourceConversation conversation;
  conversation.head.key = id;
  if (!title.empty()) conversation.head.title = title;
  conversation.head.archived = is_true(from, "is_archived");
  conversation.head.pinned = is_true(from, "is_starred");
  if (string_or_empty(from, "conversation_template_id").starts_with("g-p-"))
    importer.leave_one_of("projects of conversations", "are not named in the export: the threads come without them");
  conversation.head.created_at = time_in(from, "create_time");
  conversation.head.updated_at = time_in(from, "update_time");
  Messages messages(importer, files);
  for (const auto& [name, node] : *mapping) {
    if (node.is_object()) conversation.messages.push_back(messages.message(std::string(name), node.get_object()));
  }
  name_calls(conversation.messages);
  if (const auto current = string_member(from, "current_node")) conversation.current = std::string(*current);
  import_conversation(importer, std::move(conversation));
}

}  // namespace

void read_chatgpt(Importer& importer, const std::filesystem::path& path) {
  ChatgptFiles files(importer, path);
  for_each_conversation(importer, path,
                        [&](const json::object& from) { read_chatgpt_conversation(importer, files, from); });
  if (files.missing() > 0)
    importer.leave(fmt::format("{} files", files.missing()), "are named in conversations, but the export lacks them");
}

}  // namespace agw::cli
