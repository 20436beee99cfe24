// The format of transcripts is not documented. Their lines have `type`, `uuid`, `parentUuid`, `timestamp`, `cwd` and an
// Anthropic `message`; other types describe the session. After `/compact`, a line `compact_boundary` begins a new
// chain, and `logicalParentUuid` names the line that it continues. What a person sends while the agent works is only in
// an `attachment` of the type `queued_command`.

#include "cli/transfer/claude_transcripts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/json_pieces.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// A longer transcript is read line by line, without forks.
constexpr std::uintmax_t max_tree_bytes = 16 * 1024 * 1024;
/// The text that the program stores instead of an answer when it continues a session.
constexpr std::string_view no_response = "No response requested.";
/// The maximum length of the name of a text that the program inserted.
constexpr std::size_t max_kind = 50;
/// The maximum length of a line with a title.
constexpr std::size_t max_title_line_bytes = 8 * 1024;

/// How texts begin that the program itself sends as messages of the person.
constexpr auto openings = std::to_array<std::string_view>({"<local-command-", "<bash-std", "<ide_", "<system-reminder>",
                                                           "<task-notification>", "[Request interrupted by user"});

bool is_inserted(std::string_view text) {
  return std::ranges::any_of(openings, [&](std::string_view opening) { return text.starts_with(opening); });
}

/// What follows the texts that the program has put in front; their kinds are added to `unknown`.
std::string_view without_inserted(std::string_view text, SourceMessage& message) {
  while (is_inserted(text)) {
    const std::string name(
        text.substr(1, std::min(text.find_first_of(text.front() == '<' ? "> \n" : "]") - 1, max_kind)));
    message.unknown.push_back(name);
    const auto end_tag = "</" + name + '>';
    const auto end = text.find(end_tag);
    text.remove_prefix(end == text.npos ? text.size() : end + end_tag.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  }
  return text;
}

/// Converts the program's description of a typed command back to the command. Its output is not text of the person.
std::string typed_text(std::string_view sent, SourceMessage& message) {
  const auto text = without_inserted(sent, message);
  if (text.starts_with("<bash-input>")) return fmt::format("!{}", between(text, "<bash-input>", "</bash-input>"));
  if (!text.starts_with("<command-")) return std::string(text);
  const auto name = between(text, "<command-name>", "</command-name>");
  const auto arguments = between(text, "<command-args>", "</command-args>");
  if (name.empty()) return std::string(text);
  return fmt::format("{}{}{}", name, arguments.empty() ? "" : " ", arguments);
}

bool is_synthetic(const json::object& line) {
  const auto* message = object_member(line, "message");
  return message && string_member(*message, "model") == "<synthetic>";
}

/// The message in a line, or null, and the name of the member with its content.
std::pair<const json::object*, std::string_view> message_in(const json::object& line) {
  const auto type = string_member(line, "type");
  if (type == "user" || type == "assistant") return {object_member(line, "message"), "content"};
  const auto* attachment = type == "attachment" ? object_member(line, "attachment") : nullptr;
  const bool is_message = attachment && string_member(*attachment, "type") == "queued_command";
  return {is_message ? attachment : nullptr, "prompt"};
}

void read_typed_blocks(const json::array& blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    const auto* members = block.if_object();
    if (members && string_member(*members, "type") == "text")
      add_paragraph(message.text, typed_text(string_or_empty(*members, "text"), message));
    else
      read_blocks({&block, 1}, message);
  }
}

std::optional<SourceMessage> transcript_message(const json::object& line) {
  const auto [from, content] = message_in(line);
  const auto id = string_or_empty(line, "uuid");
  if (!from || id.empty()) return {};
  SourceMessage message{.id = id, .parent = {}, .role = Role::user, .text = {}, .reasoning = {}};
  if (string_member(line, "type") == "assistant") message.role = Role::assistant;
  const bool is_typed = message.role == Role::user;
  message.at = time_in(line, "timestamp");
  if (!is_synthetic(line)) message.model = string_or_empty(*from, "model");
  if (const auto text = string_member(*from, content))
    message.text = is_typed ? typed_text(*text, message) : std::string(*text);
  if (const auto* blocks = array_member(*from, content))
    is_typed ? read_typed_blocks(*blocks, message) : read_blocks(*blocks, message);
  // Text inserted by the program is not text of the person.
  if (is_true(line, "isMeta") || is_true(*from, "isMeta") || message.text == no_response) message.text.clear();
  for (auto& result : message.results) result.at = message.at;
  return message;
}

/// Reports a message without an id, to which nothing can refer.
void leave_unnamed(Importer& importer, const json::object& line) {
  const auto type = string_or_empty(line, "type");
  const bool is_message = (type == "user" || type == "assistant") && object_member(line, "message");
  if (is_message && string_or_empty(line, "uuid").empty())
    importer.leave_one_of("messages of sessions", "have no uuid");
}

bool has_only_results(const SourceMessage& message) {
  return message.role == Role::user && !message.results.empty() && message.text.empty() && message.files.empty();
}

/// With parallel calls, each result is a child of its own call, so all but one end a branch. They belong to the message
/// with the result of the last call.
class ResultGatherer {
public:
  explicit ResultGatherer(std::vector<SourceMessage>& messages) : messages_(messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      numbers_.emplace(messages[i].id, i);
      if (messages[i].parent) children_[*messages[i].parent].push_back(i);
    }
  }

  void gather() {
    for (auto& each : messages_) {
      if (!has_only_results(each) || !each.parent || children_.contains(each.id)) continue;
      if (const auto place = place_beside(each))
        std::ranges::move(std::exchange(each.results, {}), std::back_inserter(messages_[*place].results));
    }
  }

private:
  /// There are few parallel calls; broken data may contain a loop.
  static constexpr int max_steps = 1000;

  /// The message with the results of the other parallel calls, or the message of the calls if those have no results.
  /// Nullopt if there are no other calls.
  std::optional<std::size_t> place_beside(const SourceMessage& result) const {
    const auto parent = numbers_.find(*result.parent);
    if (parent == numbers_.end()) return std::nullopt;
    auto next = child_of(*result.parent, result.id);
    if (!next) return std::nullopt;
    for (int step = 0; next && step < max_steps; ++step) {
      const auto& at = messages_[*next];
      if (has_only_results(at)) return next;
      if (at.role == Role::user && has_content(at)) break;
      next = child_of(at.id, result.id);
    }
    return parent->second;
  }

  /// A child other than `without`, preferably one that continues.
  std::optional<std::size_t> child_of(const std::string& id, const std::string& without) const {
    const auto found = children_.find(id);
    std::optional<std::size_t> child;
    for (const auto number : found == children_.end() ? std::vector<std::size_t>() : found->second) {
      if (messages_[number].id == without) continue;
      if (children_.contains(messages_[number].id)) return number;
      child = number;
    }
    return child;
  }

  std::vector<SourceMessage>& messages_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::unordered_map<std::string, std::vector<std::size_t>> children_;
};

/// The state of a session while its lines are read.
struct Transcript {
  ImportedThread head;
  std::optional<fs::path> project;
  bool is_of_agent = false;  ///< the transcript of a subagent
  std::uint64_t asides = 0;  ///< the number of a subagent's messages in another transcript
  std::string custom_title;
  std::string generated_title;
  std::vector<std::pair<std::string, std::string>> summaries{};  ///< with the message that they lead up to

  void inspect(const json::object& line) {
    const auto cwd = string_or_empty(line, "cwd");
    if (!project && !cwd.empty()) project = cwd;
    const auto type = string_or_empty(line, "type");
    if (type == "custom-title") custom_title = string_or_empty(line, "customTitle");
    if (type == "ai-title") generated_title = string_or_empty(line, "aiTitle");
    if (type == "summary") summaries.emplace_back(string_or_empty(line, "leafUuid"), string_or_empty(line, "summary"));
  }

  bool is_aside(const json::object& line) const { return !is_of_agent && is_true(line, "isSidechain"); }

  /// Chooses like the program itself. A summary of messages in another file may be of another session.
  void choose_title(const std::vector<SourceMessage>& messages) {
    auto title = custom_title.empty() ? generated_title : custom_title;
    bool is_of_this = false;
    for (const auto& [leaf, summary] : title.empty() ? summaries : decltype(summaries)()) {
      const bool is_here = contains(messages, leaf, &SourceMessage::id);
      if (is_of_this && !is_here) continue;
      is_of_this = is_here;
      title = summary;
    }
    if (!title.empty()) head.title = shortened(title, 200);
  }
};

/// Titles may be anywhere in the file. Parses only candidate lines.
void find_title(const fs::path& file, Transcript& transcript) {
  TextLines lines(unpacked_bytes_of_file(file), max_piece_bytes);
  std::string line;
  std::size_t replaced = 0;
  while (lines.next(line)) {
    const bool may_name = line.size() < max_title_line_bytes &&
                          (line.find("-title\"") != line.npos || line.find("\"summary\"") != line.npos);
    if (!may_name && transcript.project) continue;
    const auto value = parse_source_json(line, replaced);
    if (value && value->is_object()) transcript.inspect(value->get_object());
  }
  transcript.choose_title({});
}

void stream_transcript(Importer& importer, const fs::path& file, Transcript& transcript) {
  find_title(file, transcript);
  importer.begin_thread(transcript.head, transcript.project);
  TurnWriter turns(importer);
  for_each_line(importer, file, [&](const json::object& line) {
    leave_unnamed(importer, line);
    const auto message = transcript_message(line);
    if (message) leave_parts(importer, *message);
    if (message && transcript.is_aside(line))
      ++transcript.asides;
    else if (message)
      turns.add(*message);
    return true;
  });
  turns.finish();
}

/// The message that a line continues. If its parent is not in this file, it continues the previous line. The same holds
/// for the program's own text, which it stores next to the last answer after a restart.
std::optional<std::string> parent_of(const json::object& line, const std::set<std::string>& known,
                                     const std::vector<SourceMessage>& messages) {
  auto parent = string_or_empty(line, "parentUuid");
  if (parent.empty()) parent = string_or_empty(line, "logicalParentUuid");
  if (parent.empty()) return std::nullopt;
  if (messages.empty() || (known.contains(parent) && !is_synthetic(line))) return parent;
  return messages.back().id;
}

/// Lines that are not messages are part of the tree too: they connect those around them.
void read_tree(Importer& importer, const fs::path& file, Transcript& transcript) {
  SourceConversation conversation;
  auto& messages = conversation.messages;
  std::set<std::string> known;
  for_each_line(importer, file, [&](const json::object& line) {
    transcript.inspect(line);
    leave_unnamed(importer, line);
    auto message = transcript_message(line);
    if (message) leave_parts(importer, *message);
    const auto id = string_or_empty(line, "uuid");
    if (transcript.is_aside(line)) {
      if (message) ++transcript.asides;
    } else if (!id.empty()) {
      if (!message) message = SourceMessage{.id = id, .parent = {}, .role = Role::system, .text = {}, .reasoning = {}};
      message->parent = parent_of(line, known, messages);
      known.insert(id);
      messages.push_back(*std::move(message));
    }
    return true;
  });
  ResultGatherer(messages).gather();
  const bool is_empty = std::ranges::all_of(messages, [](const auto& each) { return each.role == Role::system; });
  if (is_empty) return transcript.asides > 0 ? void() : importer.leave(file.string(), "has no messages");
  transcript.choose_title(messages);
  conversation.head = transcript.head;
  conversation.project = transcript.project;
  import_conversation(importer, std::move(conversation));
}

/// A subagent's transcript has a file next to it with the task.
void read_task(Importer& importer, fs::path file, Transcript& transcript) {
  transcript.is_of_agent = transcript.head.archived = true;
  if (!fs::exists(file.replace_extension(".meta.json"))) return;
  const auto task = settings_in_file(importer, file);
  if (task) transcript.custom_title = string_or_empty(*task, "description");
}

/// Whether an agent of the program itself wrote the transcript, which repeats the conversation that it compacts or for
/// which it suggests a question.
bool is_upkeep(std::string_view name) {
  return name.starts_with("agent-acompact-") || name.starts_with("agent-aprompt_suggestion-");
}

void read_transcript(Importer& importer, const fs::path& file) {
  Transcript transcript;
  transcript.head.key = file.stem().string();
  if (is_upkeep(transcript.head.key))
    return importer.leave_one_of("transcripts", "are of that program's own agents, and repeat conversations");
  if (transcript.head.key.starts_with("agent-")) read_task(importer, file, transcript);
  if (fs::file_size(file) > max_tree_bytes)
    stream_transcript(importer, file, transcript);
  else
    read_tree(importer, file, transcript);
  if (transcript.asides > 0)
    importer.leave(fmt::format("{} messages of agents in {}", transcript.asides, file.string()),
                   "are what agents said to each other; the results are in the conversation");
}

}  // namespace

void import_claude_transcripts(Importer& importer, const fs::path& projects) {
  const auto files = files_below(importer, projects, ".jsonl");
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("transcripts", i, files.size());
    read_transcript(importer, files[i]);
  }
}

}  // namespace agw::cli
