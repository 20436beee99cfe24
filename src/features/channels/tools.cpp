// The tools that let agents act in a messenger.

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/response.hpp"
#include "base/json/json.hpp"
#include "features/channels/channel.hpp"
#include "features/channels/service.hpp"
#include "tools/input.hpp"
#include "tools/opened_path.hpp"

namespace agw {

namespace {

constexpr int max_files = 10;  // per answer

constexpr auto send_file_schema = R"({
  "type": "object",
  "properties": {"path": {"type": "string", "minLength": 1, "description": "of the file"}},
  "required": ["path"],
  "additionalProperties": false
})";

std::string content_of(const OpenedPath& file) {
  auto bytes = read_opened(open_file(file), attachment_limit);
  if (!bytes && bytes.error() == FileError::too_large)
    throw BadRequest(fmt::format("{} is over 20 MiB", file.path.string()));
  if (!bytes) throw BadRequest(fmt::format("{}: {}", file.path.string(), to_string(bytes.error())));
  if (bytes->empty()) throw BadRequest(fmt::format("{} is empty", file.path.string()));
  return *std::move(bytes);
}

/// Files that are named as text but not in UTF-8 get a binary type, because services would convert them.
std::string type_of(const std::string& name, const std::string& bytes) {
  const auto type = content_type_of(name);
  return std::string(type.starts_with("text/") && !is_utf8(bytes) ? "application/octet-stream" : type);
}

}  // namespace

std::vector<ToolPointer> Channels::tools() {
  if (channels_.empty()) return {};
  if (!send_file_tool_) {
    send_file_tool_ = std::make_shared<const Tool>(
        Tool{.description = {"SendFile",
                             "Sends a file or picture to the person in the messenger or mail whose message you answer. "
                             "It goes with your answer.",
                             parse_json(send_file_schema).value()},
             .effect = ToolEffect::calls_out,
             .authorizes_itself = true,
             .call = [this](const ToolCall& call) { return send_file(call); }});
  }
  return {send_file_tool_};
}

Task<ToolOutcome> Channels::send_file(const ToolCall& call) {
  std::shared_ptr<Channel> channel;
  std::int64_t question = 0;
  for (const auto& [id, known] : channels_) {
    const auto* found = known->question_of(call.run.thread_id, call.run.turn_id);
    if (!found) continue;
    channel = known;
    question = found->number;
  }
  if (!channel) co_return failed("the message came from no messenger: name the file in your answer instead");
  const auto path = absolute_path(text_input(call.input, "path"), call.run.roots);
  const auto file = co_await services_.blocking.run([path, roots = call.run.roots] { return locate(path, roots); });
  const auto permission = call.authorize(target_of(file));
  if (permission.verdict != Permission::Verdict::allowed) co_return refusal(permission);
  auto bytes = co_await services_.blocking.run([file] { return content_of(file); });
  auto name = file.path.filename().string();
  const auto type = type_of(name, bytes);
  co_await services_.attachments.add(std::move(name), type, std::move(bytes),
                                     [question](Connection& connection, const Attachment& added) {
                                       if (!channel_store::add_file(connection, question, added.id, max_files))
                                         throw Conflict(fmt::format("an answer can have {} files at most", max_files));
                                     });
  co_return ToolOutcome{"It is sent with your answer.\n"};
}

}  // namespace agw
