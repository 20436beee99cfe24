// An export of this program: threads.jsonl, one record a line, a thread before its turns.

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t newest_format = 1;

ImportedThread own_thread(const json::object& from) {
  ImportedThread thread{.key = string_or_empty(from, "id"), .turns = {}};
  // The name, which is the same in every gateway; the id of an agent that is no more.
  auto agent = string_member(from, "agent");
  if (!agent) agent = string_member(from, "agent_id");
  if (agent) thread.agent_id = std::string(*agent);
  if (const auto title = string_member(from, "title")) thread.title = std::string(*title);
  thread.mode = from_text<ThreadMode>(string_or_empty(from, "mode"));
  thread.archived = is_true(from, "archived");
  thread.created_at = time_in(from, "created_at");
  thread.updated_at = time_in(from, "updated_at");
  return thread;
}

std::optional<ImportedTurn> own_turn(json::object& from) {
  const auto role = from_text<Role>(string_or_empty(from, "role"));
  if (!role) return std::nullopt;
  ImportedTurn turn{.key = string_or_empty(from, "id"),
                    .role = *role,
                    .content = string_or_empty(from, "content"),
                    .metadata = {},
                    .created_at = time_in(from, "created_at"),
                    .in_reply_to = {}};
  if (auto* metadata = from.if_contains("metadata"); metadata && metadata->is_object())
    turn.metadata = std::move(metadata->get_object());
  if (const auto reply = string_member(from, "in_reply_to")) turn.in_reply_to = std::string(*reply);
  return turn;
}

/// What an export contains, line by line.
class Records {
public:
  Records(Importer& importer, fs::path files) : importer_(importer), files_(std::move(files)) {}

  void take(json::object& record) {
    const auto kind = string_or_empty(record, "record");
    if (kind == "export") return check(record);
    if (kind == "project") {
      projects_[string_or_empty(record, "id")] = string_or_empty(record, "path");
    } else if (kind == "thread") {
      take_thread(record);
    } else if (kind == "turn") {
      take_turn(record);
    } else {
      importer_.leave("a record `" + kind + "`", "is not known to this version");
    }
  }

private:
  static void check(const json::object& record) {
    const auto* format = record.if_contains("format");
    if (!format || !format->is_int64() || format->get_int64() > newest_format)
      throw std::runtime_error("the export is of a newer version: update the gateway first");
  }

  void take_thread(const json::object& record) {
    thread_ = string_or_empty(record, "id");
    const auto project = projects_.find(string_or_empty(record, "project_id"));
    importer_.begin_thread(own_thread(record),
                           project == projects_.end() ? std::nullopt : std::optional<fs::path>(project->second));
  }

  void take_turn(json::object& record) {
    const auto id = string_or_empty(record, "id");
    auto turn = own_turn(record);
    if (thread_.empty() || string_or_empty(record, "thread_id") != thread_)
      importer_.leave("turn " + id, "does not follow its thread");
    else if (!turn)
      importer_.leave("turn " + id, "has an unknown role");
    else
      take_whole(*std::move(turn));
  }

  void take_whole(ImportedTurn turn) {
    const auto* attachments = turn.metadata ? array_member(*turn.metadata, "attachments") : nullptr;
    for (const auto& each : attachments ? *attachments : json::array())
      if (each.is_object()) take_file(each.get_object());
    importer_.add_turn(std::move(turn));
  }

  void take_file(const json::object& attachment) {
    const auto id = string_or_empty(attachment, "id");
    const auto name = string_or_empty(attachment, "name");
    if (!is_uuid(id) || !fs::exists(files_ / id)) return importer_.leave("file " + name, "the export lacks it");
    if (auto why = why_unread(files_ / id, {files_}); !why.empty()) return importer_.leave("file " + name, why);
    importer_.add_attachment(id, {name, string_or_empty(attachment, "mime"), content_of(bytes_of_file(files_ / id))});
  }

  Importer& importer_;
  fs::path files_;
  std::map<std::string, std::string> projects_;
  std::string thread_;
};

}  // namespace

void read_own_export(Importer& importer, const fs::path& path) {
  const auto file = fs::is_directory(path) ? path / "threads.jsonl" : path;
  if (!fs::is_regular_file(file)) throw std::runtime_error(file.string() + ": there is no such file");
  Records records(importer, file.parent_path() / "files");
  for_each_line(importer, file, [&](json::object record) {
    records.take(record);
    return true;
  });
}

}  // namespace agw::cli
