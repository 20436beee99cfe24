#pragma once

#include <filesystem>
#include <optional>
#include <set>
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

  bool operator==(const SourceCall&) const = default;
};

/// The result of such a call.
struct SourceResult {
  std::string call_id;
  std::string output;
  bool is_error = false;
  std::optional<Timestamp> at{};  ///< if it is not that of its message
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
  json::array attachments{};           ///< of files that were taken over already
  std::vector<std::string> unknown{};  ///< kinds of parts that have no place here
};

/// Appends a paragraph, unless it is empty.
void add_paragraph(std::string& text, std::string_view paragraph);

/// Whether a message has more than its place in a conversation.
bool has_content(const SourceMessage& message);

/// Takes over the message's files already, for ids that are unique only in `scope`.
void take_files(Importer& importer, const std::string& scope, SourceMessage& message);

/// Turns a sequence of messages into turns, as the gateway stores them: all that an assistant says and does between two
/// messages of a person is one turn of the assistant, after a turn for each tool call.
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
  /// The message's attachments, after its files were taken over.
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

/// A conversation of another program. Where messages have parents, they are a tree: the path to `current` becomes the
/// thread, and each other path a fork of it.
struct SourceConversation {
  ImportedThread head;
  std::optional<std::filesystem::path> project;
  std::vector<SourceMessage> messages;  ///< in their order of creation
  std::optional<std::string> current;   ///< the last message of the path that was shown; none: the newest
};

void import_conversation(Importer& importer, SourceConversation conversation);

/// Reads blocks of a message as in the APIs of Anthropic and OpenAI into the message: texts, `thinking`, `tool_use` and
/// `tool_result`. A picture or document that is not in the block itself becomes a line that says so. The kinds of
/// others are `unknown`.
void read_blocks(const json::array& blocks, SourceMessage& message);

}  // namespace agw::cli
