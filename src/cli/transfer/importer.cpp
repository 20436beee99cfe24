// Creates the things found by readers.hpp in a gateway. Turns are sent in batches; the next batch is read while one is
// sent. Records contain a mark of their origin, and existing ones are not changed, so an interrupted import can be
// repeated.

#include "cli/transfer/importer.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/async/task.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "cli/client/client.hpp"
#include "cli/output/table.hpp"
#include "features/attachments/service.hpp"
#include "features/extensions/validation.hpp"
#include "io/files/directory.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

// A batch is parsed and written at once, so its size limits how long other requests wait.
constexpr std::size_t max_batch_bytes = 192 * 1024;
constexpr std::size_t max_batch_turns = 400;
constexpr std::size_t max_batch_threads = 100;
constexpr std::size_t max_turn_bytes = 8 * 1024 * 1024;
constexpr std::size_t max_left_out = 1000;
constexpr std::size_t max_identity_bytes = 102'400;
constexpr std::size_t max_file_name = 200;
/// Lists of threads contain complete titles.
constexpr std::size_t max_title_bytes = 1000;
constexpr auto origin_member = "imported_from";

Task<> ask(const FoundGateway& gateway, const std::string& method, const std::string& path, std::string body,
           std::string& response) {
  response = co_await Client(gateway).ask(method, path, std::move(body));
}

Task<int> asked(const FoundGateway& gateway, const std::string& method, const std::string& path, std::string body,
                std::string& response) {
  co_await ask(gateway, method, path, std::move(body), response);
  co_return 0;
}

Task<int> uploaded(const FoundGateway& gateway, std::string path, std::string type, std::string bytes) {
  co_await Client(gateway).upload(std::move(path), std::move(type), std::move(bytes));
  co_return 0;
}

std::string exchange(const FoundGateway& gateway, const std::string& method, const std::string& path,
                     std::string body) {
  Loop loop;
  std::string response;
  run(loop, asked(gateway, method, path, std::move(body), response));
  return response;
}

ImportResult result_from(const std::string& text) {
  ImportResult result;
  const auto value = parse_json(text);
  const auto* threads = value && value->is_object() ? array_member(value->get_object(), "threads") : nullptr;
  if (!threads) throw std::runtime_error("the gateway's response to POST /import is not that of this version");
  for (const auto& each : *threads) {
    if (!each.is_object()) continue;
    const auto& thread = each.get_object();
    result.threads.push_back({.key = string_or_empty(thread, "key"),
                              .id = string_or_empty(thread, "id"),
                              .created = is_true(thread, "created"),
                              .turns_created = integer_or_zero(thread, "turns_created"),
                              .turns_kept = integer_or_zero(thread, "turns_kept")});
  }
  return result;
}

ImportResult send_batch(const FoundGateway& gateway, const ImportBatch& batch) {
  std::string body;
  write_json(body, batch);
  return result_from(exchange(gateway, "POST", "/import", std::move(body)));
}

bool is_refusal(const ResponseError& error) {
  return error.is_not_found() || error.status() == 400 || error.status() == 409 || error.status() == 413;
}

/// Whether the thread is refused because of some of its turns. Only metadata of turns can be nested too deeply.
bool is_about_turns(const ResponseError& error) {
  const std::string_view why = error.what();
  return error.status() == 413 || why.starts_with("threads[0].turns") ||
         why.starts_with("turn belongs to another thread") || why.starts_with("Invalid JSON");
}

std::string origin_of(const json::object& record) {
  const auto* definition = object_member(record, "definition");
  return definition ? string_or_empty(*definition, origin_member) : std::string();
}

}  // namespace

std::string extension_name_from(std::string_view text, std::string_view otherwise) {
  std::string name;
  for (const char c : text) {
    if (is_alphanumeric(c))
      name += to_lower(c);
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == 48) break;
  }
  while (name.ends_with('-')) name.pop_back();
  return is_extension_name(name) ? name : std::string(otherwise);
}

Importer::Importer(std::string source, fs::path root, const FoundGateway* gateway, bool with_keys, bool dry_run)
    : source_(std::move(source)), root_(std::move(root)), gateway_(gateway), with_keys_(with_keys), writes_(!dry_run) {
  AGW_ASSERT(gateway || dry_run);
  batch_.source = source_;
}

Importer::~Importer() {
  if (sending_.valid()) sending_.wait();
}

json::value Importer::request(const std::string& method, const std::string& path, const json::value& body) const {
  const auto text = exchange(*gateway_, method, path, body.is_null() ? std::string() : to_json(body));
  return parse_json(text, {.max_depth = max_own_json_depth}).value_or(nullptr);
}

void Importer::begin_thread(ImportedThread head, const std::optional<fs::path>& project) {
  if (batch_bytes_ > max_batch_bytes || batch_.threads.size() >= max_batch_threads) flush();
  check_time(head.created_at);
  check_time(head.updated_at);
  if (source_ != own_source && head.title && head.title->size() > max_title_bytes) {
    head.title = shortened(*head.title, max_title_bytes);
    leave_one_of("ends of titles", "a title has at most 1,000 bytes");
  }
  if (project) head.project_id = project_id(*project, project->filename().string());
  // A dry run does not know which threads exist.
  if (!writes_ && seen_threads_.insert(head.key).second) ++counts_["threads"].created;
  batch_bytes_ += head.key.size() + head.title.value_or("").size() + 200;
  if (head.tasks) batch_bytes_ += size_of(*head.tasks);
  batch_.threads.push_back(std::move(head));
}

void Importer::check_time(std::optional<Timestamp>& time) {
  // Tolerates a clock that is slightly ahead.
  if (!time || (*time >= Timestamp() && *time <= SystemClock().now() + std::chrono::days(1))) return;
  time.reset();
  ++impossible_times_;
}

void Importer::add_turn(ImportedTurn turn) {
  check_time(turn.created_at);
  if (turn.content.size() > max_turn_bytes) {
    leave(fmt::format("turn {} of {}", turn.key, batch_.threads.back().key), "has more than 8 MiB");
    return;
  }
  if (batch_bytes_ > max_batch_bytes || batch_turns_ >= max_batch_turns) {
    auto head = batch_.threads.back();
    head.turns.clear();
    flush();
    batch_.threads.push_back(std::move(head));
  }
  if (!writes_) {
    ++counts_["turns"].created;
    return;
  }
  batch_bytes_ += turn.content.size() + turn.key.size() + 100;
  if (turn.metadata) batch_bytes_ += to_json(json::value(*turn.metadata)).size();
  ++batch_turns_;
  batch_.threads.back().turns.push_back(std::move(turn));
}

/// Leaves out a thread, or some of its turns, that the gateway refuses, and sends the rest of the batch.
Importer::Sent Importer::send(const FoundGateway& gateway, ImportBatch batch) {
  try {
    return {send_batch(gateway, batch), {}};
  } catch (const ResponseError& error) {
    if (!is_refusal(error)) throw;
  }
  Sent sent;
  for (auto& thread : batch.threads) {
    const auto title = thread.title.value_or(thread.key);
    ImportBatch one{.source = batch.source, .threads = {}};
    one.threads.push_back(std::move(thread));
    RefusedTurns refused;
    try {
      send_thread(gateway, std::move(one), sent.result, refused);
    } catch (const ResponseError& error) {
      if (!is_refusal(error)) throw;
      sent.refused.push_back({"thread " + title, error.what()});
    }
    if (refused.count == 1) sent.refused.push_back({fmt::format("turn {} of {}", refused.key, title), refused.why});
    if (refused.count > 1) sent.refused.push_back({fmt::format("{} turns of {}", refused.count, title), refused.why});
  }
  return sent;
}

/// Sends one thread; if the gateway refuses any turns, sends halves of them separately. Throws an error that concerns
/// the thread itself.
void Importer::send_thread(const FoundGateway& gateway, ImportBatch one, ImportResult& result, RefusedTurns& refused) {
  AGW_ASSERT(one.threads.size() == 1);
  try {
    auto made = send_batch(gateway, one);
    std::ranges::move(made.threads, std::back_inserter(result.threads));
    return;
  } catch (const ResponseError& error) {
    if (!is_refusal(error) || one.threads[0].turns.empty() || !is_about_turns(error)) throw;
    if (one.threads[0].turns.size() == 1) return refused.add(one.threads[0].turns[0].key, error.what());
  }
  auto turns = std::exchange(one.threads[0].turns, {});
  const auto half = turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 2);
  auto rest = one;
  rest.threads[0].turns.assign(std::move_iterator(half), std::move_iterator(turns.end()));
  turns.erase(half, turns.end());
  one.threads[0].turns = std::move(turns);
  send_thread(gateway, std::move(one), result, refused);
  send_thread(gateway, std::move(rest), result, refused);
}

void Importer::flush() {
  auto batch = std::exchange(batch_, ImportBatch{.source = source_, .threads = {}});
  batch_bytes_ = batch_turns_ = 0;
  if (!writes_ || batch.threads.empty()) return;
  await_batch();
  sending_ = std::async(std::launch::async, [gateway = gateway_, batch = std::move(batch)]() mutable {
    return send(*gateway, std::move(batch));
  });
}

void Importer::await_batch() {
  if (sending_.valid()) take(sending_.get());
}

void Importer::take(Sent sent) {
  for (auto& each : sent.refused) leave(std::move(each.what), std::move(each.why));
  for (const auto& thread : sent.result.threads) {
    if (seen_threads_.insert(thread.key).second)
      ++(thread.created ? counts_["threads"].created : counts_["threads"].kept);
    counts_["turns"].created += static_cast<std::uint64_t>(thread.turns_created);
    counts_["turns"].kept += static_cast<std::uint64_t>(thread.turns_kept);
  }
}

void Importer::load_projects() {
  projects_.emplace();
  if (!gateway_) return;
  const auto listed = request("GET", "/projects");
  if (!listed.is_array()) return;
  for (const auto& each : listed.get_array()) {
    if (each.is_object())
      projects_->emplace(string_or_empty(each.get_object(), "path"), string_or_empty(each.get_object(), "id"));
  }
}

std::optional<std::string> Importer::project_id(const fs::path& directory, const std::string& name) {
  if (directory.empty()) return std::nullopt;
  if (!projects_) load_projects();
  std::error_code failed;
  const auto resolved = fs::canonical(directory, failed).string();
  const auto path = failed ? directory.string() : resolved;
  if (const auto found = projects_->find(path); found != projects_->end())
    return found->second.empty() ? std::nullopt : std::optional(found->second);
  const auto id = writes_ ? made_project(name, path) : counted_project(path);
  projects_->emplace(path, id);
  return id.empty() ? std::nullopt : std::optional(id);
}

std::string Importer::made_project(const std::string& name, const std::string& path) {
  std::string id;
  try {
    const auto made = request("POST", "/projects", {{"name", name}, {"path", path}});
    if (made.is_object()) id = string_or_empty(made.get_object(), "id");
    ++counts_["projects"].created;
  } catch (const ResponseError& error) {
    leave("project " + path, fmt::format("{}; its threads come without a project", error.what()));
  }
  return id;
}

std::string Importer::counted_project(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed))
    ++counts_["projects"].created;
  else
    leave("project " + path, "is no directory here; its threads come without a project");
  return {};
}

std::optional<json::object> Importer::find_extension(const std::string& name) const {
  try {
    auto found = request("GET", path({"extensions", name}));
    if (found.is_object()) return std::move(found.get_object());
  } catch (const ResponseError& error) {
    if (!error.is_not_found()) throw;
  }
  return std::nullopt;
}

std::optional<Importer::Place> Importer::place_of(const std::string& base, const std::string& mark) {
  constexpr int max_attempts = 100;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    auto name = base;
    if (attempt > 0) name += fmt::format("-{}{}", source_, attempt > 1 ? fmt::format("-{}", attempt) : "");
    const auto found = gateway_ ? find_extension(name) : std::nullopt;
    if (found && origin_of(*found) != mark) continue;
    // Two files of one name in different folders have the same mark. A dry run creates no record that the second of two
    // things would find.
    const bool is_first = used_.insert(name).second;
    if (is_first || (writes_ && !found)) return Place{name, found.has_value()};
  }
  return std::nullopt;
}

std::string Importer::add_extension(json::object body, const std::string& origin) {
  const auto type = string_or_empty(body, "type");
  const auto wanted = string_or_empty(body, "name");
  auto base = extension_name_from(wanted, fmt::format("{}-{}", source_, type));
  if (base != wanted) note(fmt::format("{} {} is named {} here", type, wanted, base));
  const auto mark = fmt::format("{}:{}", source_, origin);
  if (body["definition"].is_object()) body["definition"].get_object()[origin_member] = mark;
  body["enabled"] = false;
  body["source"] = "user";
  auto& count = counts_[type + "s"];
  const auto place = place_of(base, mark);
  if (!place) {
    leave(fmt::format("{} {}", type, wanted), "its name is taken");
    return base;
  }
  body["name"] = place->name;
  try {
    if (writes_ && !place->is_there) request("POST", "/extensions", body);
    ++(writes_ && place->is_there ? count.kept : count.created);
    if (place->name != base) note(fmt::format("{} {} is named {} here: the name is taken", type, base, place->name));
  } catch (const ResponseError& error) {
    if (!is_refusal(error)) throw;
    leave(fmt::format("{} {}", type, wanted), error.what());
    return place->name;
  }
  if (type == "agent") agents_[wanted] = place->name;
  return place->name;
}

OwnExtension Importer::add_own_extension(json::object body) {
  const auto type = string_or_empty(body, "type");
  const auto name = string_or_empty(body, "name");
  auto& count = counts_[type + "s"];
  if (const auto found = gateway_ ? find_extension(name) : std::nullopt) {
    const bool is_same = string_or_empty(*found, "type") == type && found->at("definition") == body["definition"];
    if (!is_same) {
      leave(fmt::format("{} {}", type, name), "there is another one of that name, which stays as it is");
      return OwnExtension::left_out;
    }
    ++(writes_ ? count.kept : count.created);
    return is_true(*found, "enabled") ? OwnExtension::enabled : OwnExtension::disabled;
  }
  for (const auto* member : {"id", "owner_agent_id"}) body.erase(member);
  body["enabled"] = false;
  body["source"] = "user";
  try {
    if (writes_) request("POST", "/extensions", body);
    ++count.created;
    return OwnExtension::disabled;
  } catch (const ResponseError& error) {
    if (!is_refusal(error)) throw;
    leave(fmt::format("{} {}", type, name), error.what());
    return OwnExtension::left_out;
  }
}

std::optional<std::string> Importer::agent_here(const std::string& name) const {
  const auto found = agents_.find(name);
  return found == agents_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Importer::model_here(const std::string& model) {
  const auto slash = model.find('/');
  const auto service = services_.find(model.substr(0, slash));
  if (slash != model.npos && service != services_.end()) return service->second + model.substr(slash);
  if (!models_) load_models();
  if (models_->contains(model)) return model;
  std::optional<std::string> found;
  for (const auto& each : *models_) {
    if (!each.ends_with("/" + model)) continue;
    if (found) return std::nullopt;
    found = each;
  }
  return found;
}

void Importer::load_models() {
  models_.emplace();
  if (!gateway_) return;
  const auto listed = request("GET", "/models");
  for (const auto& each : listed.is_array() ? listed.get_array() : json::array()) {
    if (each.is_object()) models_->insert(string_or_empty(each.get_object(), "id"));
  }
}

void Importer::add_identity(const std::string& kind, const std::optional<std::string>& agent,
                            const std::string& content, const std::string& origin) {
  if (content.empty()) return;
  const auto place = agent ? path({"agents", *agent, kind}) : path({kind});
  if (content.size() > max_identity_bytes) return leave(origin, "has more than 102,400 bytes, the limit of a " + kind);
  auto& count = counts_[kind + "s"];
  if (!writes_) {
    ++count.created;
    return;
  }
  const auto current = request("GET", place);
  const auto text = current.is_object() ? string_or_empty(current.get_object(), "content") : std::string();
  if (text == content) {
    ++count.kept;
  } else if (!text.empty()) {
    leave(origin, fmt::format("there is a {} already: {}", kind, place));
  } else {
    request("PUT", place, {{"content", content}});
    ++count.created;
  }
}

void Importer::add_file(const std::string& kind, const fs::path& path, const std::string& content,
                        const std::string& origin, mode_t mode) {
  auto& count = counts_[kind];
  if (!writes_) {
    ++count.created;
    return;
  }
  const auto directory = Directory::open(gateway_->data_directory, Symlinks::refuse).value();
  if (directory.status(path.string())) {
    ++count.kept;
    // The file may have been edited since.
    const auto there = directory.read(path.string(), content.size());
    if (!there || *there != content) leave(origin, "there is another file already: " + path.string());
    return;
  }
  const auto made = directory.make_directories(path.has_parent_path() ? path.parent_path().string() : ".");
  const auto written = made ? directory.write(path.string(), content, mode) : made;
  if (written)
    ++count.created;
  else
    leave(origin, fmt::format("{}: {}", path.string(), to_string(written.error())));
}

bool Importer::has_file(const fs::path& path) const { return gateway_ && fs::exists(gateway_->data_directory / path); }

std::optional<json::object> Importer::add_attachment(const std::string& key, SourceFile file) {
  auto& [name, type, bytes] = file;
  if (bytes.empty() || bytes.size() > attachment_limit) {
    leave("file " + name, bytes.empty() ? "is empty" : "is larger than 20 MiB");
    return std::nullopt;
  }
  std::erase_if(name, is_control);
  name = to_utf8(name.substr(0, max_file_name));
  if (type.empty()) type = type_of(bytes);
  const auto id = source_ == own_source ? key : id_of_key(source_, "file/" + key);
  json::object made{{"id", id}, {"name", name}, {"mime", type}, {"size", bytes.size()}};
  // Only the gateway knows whether it has the complete file, so it is sent again.
  const bool is_there = gateway_ && fs::exists(gateway_->data_directory / "attachments" / id);
  ++(is_there ? counts_["files"].kept : counts_["files"].created);
  if (!writes_) return made;
  Loop loop;
  run(loop, uploaded(*gateway_, path({"files"}, {{"name", name}, {"id", id}}), type, std::move(bytes)));
  return made;
}

void Importer::leave(std::string what, std::string why) {
  ++left_out_count_;
  if (left_out_.size() < max_left_out) left_out_.push_back({std::move(what), std::move(why)});
}

void Importer::show_progress(const std::string& what, std::uint64_t done, std::uint64_t total) {
  progress_.show(what, done, total);
}

void Importer::finish() {
  flush();
  await_batch();
  for (const auto& [kind, count] : std::exchange(left_kinds_, {}))
    leave(fmt::format("{} {}", count, kind.first), kind.second);
  if (impossible_times_ > 0)
    note(count_text(impossible_times_, "time is", "times are") +
         " before 1970, in the future or none at all: turns have that of the turn before");
}

}  // namespace agw::cli
