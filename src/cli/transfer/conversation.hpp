#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "cli/transfer/importer.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw::cli {

/// A call of a tool in another program's message.
struct SourceCall {
  std::string id;
  std::string name;
  json::object input;
  std::optional<std::size_t> text_bytes{};  ///< how much of its message's text precedes it; nullopt means all

  bool operator==(const SourceCall&) const = default;
};

/// The result of such a call.
struct SourceResult {
  std::string call_id;
  std::string output;
  bool is_error = false;
  std::optional<Timestamp> at{};  ///< if it differs from that of its message
};

/// A message of another program.
struct SourceMessage {
  std::string id;
  std::optional<std::string> parent;
  Role role{};
  std::string text;
  std::string reasoning;
  std::vector<SourceCall> calls{};
  std::vector<SourceResult> results{};
  std::string model;
  std::optional<Timestamp> at;
  std::vector<SourceFile> files{};
  json::array attachments{};           ///< of files already imported
  std::vector<std::string> unknown{};  ///< kinds of parts that cannot be represented here
};

/// Appends a paragraph, unless it is empty.
void add_paragraph(std::string& text, std::string_view paragraph);

/// Whether a message has any content besides its position in a conversation.
bool has_content(const SourceMessage& message);

/// Imports the message's files early, because their ids are unique only in `scope`.
void take_files(Importer& importer, const std::string& scope, SourceMessage& message);

/// Converts a sequence of messages to turns in the gateway's form: everything that an assistant writes and does between
/// two messages of a person becomes one turn of the assistant, after a turn for each tool call.
class TurnWriter {
public:
  explicit TurnWriter(Importer& importer) : importer_(importer) {}

  void add(const SourceMessage& message);
  /// Ends the last answer.
  void finish();

private:
  struct Call {
    SourceCall call;
    std::optional<SourceResult> result;
    std::optional<Timestamp> at;
  };
  void answer(const SourceMessage& message);
  /// The message's attachments, after importing its files.
  json::array attachments_of(const SourceMessage& message);
  void attach(const SourceMessage& message);
  void take(const SourceResult& result, const SourceMessage& message);

  Importer& importer_;
  std::optional<std::string> question_;
  std::optional<SourceMessage> answer_;
  std::vector<Call> calls_;
  std::set<std::string> call_keys_;  ///< of all answers
  json::array steps_;
  bool results_since_step_ = true;
};

/// A conversation of another program. If messages have parents, they form a tree: the path to `current` becomes the
/// thread, and each other path a fork of it.
struct SourceConversation {
  ImportedThread head;
  std::optional<std::filesystem::path> project;
  std::vector<SourceMessage> messages;  ///< in order of creation
  std::optional<std::string> current;   ///< the last message of the path that was shown; nullopt means the newest
};

void import_conversation(Importer& importer, SourceConversation conversation);

/// Reads blocks of a message, in the format of Anthropic's or OpenAI's API, into the message: texts, `thinking`,
/// `tool_use` and `tool_result`. A picture or document that is not part of the block becomes a line that states so. The
/// kinds of other blocks are added to `unknown`.
void read_blocks(std::span<const json::value> blocks, SourceMessage& message);

}  // namespace agw::cli
