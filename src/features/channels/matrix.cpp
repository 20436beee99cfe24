// The messenger for Matrix's client-server API, for rooms without encryption.
//
// Reading is a long poll (`/sync`). The cursor is the server's `next_batch`. A response has a *timeline* of each room.
// If it is *limited*, earlier events were omitted, which `events_of` reads page by page, back to the cursor.
//
// The invariant: a batch is returned only if it is complete up to its cursor. If any part cannot be read (a page, the
// members of a room, a join), `Unavailable` aborts the whole batch, and the next `read` begins again at the old cursor.
// After eight consecutive failures, the batch is returned without that part, so that one broken room does not block the
// others.
//
//   1. `identify`, once: request our own id, to recognise our own messages.
//   2. `/sync` from the cursor. The first one returns only a cursor: older messages were not meant for the channel.
//   3. Join rooms to which someone in `allow` has invited us; with pairing, anyone. Likewise, join a room that replaces
//      another one (a tombstone), and move its thread.
//   4. For each room: its events, whether it is a group (more than two members, or unknown), and its messages. Notices,
//      edits and our own messages are skipped: otherwise programs could answer each other endlessly.
//
// Sending is a PUT with the message's id in its path, so a repeated one is dropped by the server (`drops_repeated`). A
// file is uploaded first; a kill in between leaves an unused upload.

#include "features/channels/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/attachments/service.hpp"
#include "features/channels/markup.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using End = SendResult::End;

constexpr auto sync_timeout = 30s;
/// The time after `sync_timeout` within which the server must respond.
constexpr auto sync_grace = 30s;
/// The server ends it after this time, if the gateway cannot.
constexpr auto typing_timeout = 30s;
constexpr auto typing_overlap = 5s;
constexpr std::string_view api = "/_matrix/client/v3";
/// Excludes everything but messages.
constexpr std::string_view sync_filter =
    R"({"presence":{"types":[]},"account_data":{"types":[]},"room":{"ephemeral":{"types":[]},)"
    R"("account_data":{"types":[]},"state":{"lazy_load_members":true,"types":[]},"timeline":{"limit":50}}})";
constexpr std::int64_t max_events_per_page = 100;
/// The maximum number of events of one room beyond those in the sync response.
constexpr std::size_t max_events = 20'000;
/// Then the failing part is skipped, so that other rooms can be read.
constexpr int max_rereads = 8;

std::chrono::milliseconds matrix_retry_after(const ServiceResponse& response) {
  const auto* named = response.body.if_contains("retry_after_ms");
  const auto count = named && named->is_number() ? named->to_number<double>() : 0;
  if (count > 0) {
    constexpr auto most = static_cast<double>(max_retry_after.count());
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(std::ceil(count), most)));
  }
  return std::min(response.retry_after, max_retry_after);
}

bool is_unavailable(const ServiceResponse& response) {
  return response.stopped || response.status == 0 || response.status == 429 || response.status >= 500;
}

/// Thrown if a part of a batch cannot be read, so that the whole batch is read again.
struct Unavailable {
  ServiceResponse response;
};

std::string room_path(std::string_view room, std::string_view rest) {
  return fmt::format("{}/rooms/{}{}", api, percent_encode(room), rest);
}

json::object text_content(const std::string& text, bool is_markdown) {
  json::object content{{"msgtype", "m.text"}, {"body", text}};
  if (is_markdown) {
    content["format"] = "org.matrix.custom.html";
    content["formatted_body"] = answer_html(text);
  }
  return content;
}

json::object content_of(const OutgoingMessage& message) {
  auto content = text_content(message.text, message.is_markdown);
  if (!message.edits.empty()) {
    auto changed = content;
    content["body"] = "* " + message.text;
    content["m.new_content"] = std::move(changed);
    content["m.relates_to"] = {{"rel_type", "m.replace"}, {"event_id", message.edits}};
  } else if (!message.to.topic.empty()) {
    content["m.relates_to"] = {{"rel_type", "m.thread"}, {"event_id", message.to.topic}};
  } else if (!message.replies_to.empty()) {
    content["m.relates_to"] = {{"m.in_reply_to", {{"event_id", message.replies_to}}}};
  }
  return content;
}

/// The text of a message without the quote of the message that it replies to, which older clients add.
std::string own_text(const json::object& content) {
  auto text = string_or_empty(content, "body");
  const bool has_quote = text.starts_with("> <@") || text.starts_with("> * <@");
  if (!object_member(object_or_empty(content, "m.relates_to"), "m.in_reply_to") || !has_quote) return text;
  const auto end = text.find("\n\n");
  return end == text.npos ? text : text.substr(end + 2);
}

/// The file of a message, or its text. A file with a caption has both.
void add_content(const json::object& content, ReceivedMessage& message) {
  const auto url = string_or_empty(content, "url");
  if (url.empty()) {
    message.text = own_text(content);
    return;
  }
  const auto own_name = string_or_empty(content, "filename");
  const auto mime = string_or_empty(object_or_empty(content, "info"), "mimetype");
  message.files.push_back({url, own_name.empty() ? string_or_empty(content, "body") : own_name,
                           mime.empty() ? "application/octet-stream" : mime});
  if (!own_name.empty() && own_name != string_or_empty(content, "body")) message.text = own_text(content);
}

/// The id of the event that a person replies to. In a thread, every event names one, for clients without threads.
std::string replied_to(const json::object& content) {
  const auto relation = object_or_empty(content, "m.relates_to");
  if (is_true(relation, "is_falling_back")) return {};
  return string_or_empty(object_or_empty(relation, "m.in_reply_to"), "event_id");
}

/// Adds what the message replies to. In a group, its files too: elsewhere the agent has them already.
void add_original(const json::object& original, std::string_view own_id, ReceivedMessage& message) {
  const auto sender = string_or_empty(original, "sender");
  ReceivedMessage quoted;
  add_content(object_or_empty(original, "content"), quoted);
  if (!message.place.is_group || sender == own_id) quoted.files.clear();
  if (!sender.empty()) add_quoted(message, {.author = sender, .text = std::move(quoted.text)}, std::move(quoted.files));
}

/// Where the account's membership begins: at its last invitation, or where it joined without one.
std::vector<json::object>::iterator membership_in(std::vector<json::object>& events, std::string_view own_id) {
  const auto after_last = [&](std::string_view wanted) {
    return std::find_if(events.rbegin(), events.rend(), [&](const json::object& event) {
      if (string_member(event, "type") != "m.room.member" || string_member(event, "state_key") != own_id) return false;
      const auto before = object_or_empty(object_or_empty(event, "unsigned"), "prev_content");
      // A change of the account's profile is also a `join`, and so is the acceptance of an earlier invitation.
      return string_member(object_or_empty(event, "content"), "membership") == wanted &&
             string_member(before, "membership").value_or("leave") == "leave";
    });
  };
  const auto invited = after_last("invite");
  return (invited == events.rend() ? after_last("join") : invited).base();
}

}  // namespace

Matrix::Matrix(HttpClient& http, const ChannelAccount& account, const ChannelSettings& settings)
    : http_(http), account_(account), settings_(settings) {}

const Messenger::Traits& Matrix::traits() const {
  // An event may have 64 KiB, and contains its text twice; an edit contains it four times.
  static const Traits traits{
      .max_units = 4000, .drops_repeated = true, .between_messages = 1s, .between_in_group = 1s, .per_second = 10};
  return traits;
}

Task<ServiceResponse> Matrix::call(std::string method, std::string path, json::object body, StopSource& stop,
                                   std::chrono::milliseconds idle_timeout) const {
  ServiceCall request{.method = std::move(method),
                      .path = std::move(path),
                      .headers = {{"Authorization", "Bearer " + account_.token}},
                      .body = {},
                      .idle_timeout = idle_timeout};
  if (request.method != "GET") {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = to_json(json::value(std::move(body)));
  }
  co_return co_await call_service(http_, account_, std::move(request), stop);
}

std::string Matrix::text_of_error(const ServiceResponse& response) const {
  if (!response.error.empty()) return response.error;
  return account_.secrets.hidden_in(fmt::format("the server answered {}: {} {}", response.status,
                                                string_or_empty(response.body, "errcode"),
                                                string_or_empty(response.body, "error")));
}

ReceivedBatch Matrix::problem_of(const ServiceResponse& response) const {
  if (response.stopped) return {.end = ReceivedBatch::End::stopped};
  const bool is_refused = response.status == 401 || response.status == 403;
  return {.end = is_refused ? ReceivedBatch::End::refused : ReceivedBatch::End::retry,
          .error = text_of_error(response),
          .retry_after = matrix_retry_after(response)};
}

Task<ReceivedBatch> Matrix::identify(StopSource& stop) {
  const auto response = co_await call("GET", fmt::format("{}/account/whoami", api), {}, stop);
  user_id_ = string_or_empty(response.body, "user_id");
  if (response.status == 200 && !user_id_.empty()) co_return ReceivedBatch{.end = ReceivedBatch::End::read};
  co_return problem_of(response);
}

Task<ServiceResponse> Matrix::require(std::string method, std::string path, StopSource& stop) const {
  auto response = co_await call(std::move(method), std::move(path), {}, stop);
  if (is_unavailable(response) && (response.stopped || rereads_ < max_rereads)) throw Unavailable{std::move(response)};
  co_return response;
}

Task<ReceivedBatch> Matrix::read(std::string cursor, StopSource& stop) {
  try {
    auto batch = co_await read_all(std::move(cursor), stop);
    if (batch.end == ReceivedBatch::End::read) rereads_ = 0;
    co_return batch;
  } catch (const Unavailable& failure) {
    ++rereads_;
    co_return problem_of(failure.response);
  }
}

Task<ReceivedBatch> Matrix::read_all(std::string cursor, StopSource& stop) {
  if (user_id_.empty()) {
    auto identified = co_await identify(stop);
    if (identified.end != ReceivedBatch::End::read) co_return identified;
  }
  const bool is_first = cursor.empty();
  auto path = fmt::format("{}/sync?timeout={}&filter={}", api,
                          is_first ? 0 : std::chrono::milliseconds(sync_timeout).count(), percent_encode(sync_filter));
  if (!is_first) path += "&since=" + percent_encode(cursor);
  const auto response = co_await call("GET", std::move(path), {}, stop, sync_timeout + sync_grace);
  auto next = string_or_empty(response.body, "next_batch");
  if (response.status == 400 && !is_first && !std::exchange(begins_anew_, true)) {
    log::warn("the channel {} begins anew: {}; what was said since it last read is not answered", settings_.name,
              text_of_error(response));
    co_return ReceivedBatch{.end = ReceivedBatch::End::read, .cursor = {}};
  }
  if (response.status != 200 || next.empty()) co_return problem_of(response);
  if (!is_first) begins_anew_ = false;
  ReceivedBatch batch{.end = ReceivedBatch::End::read, .cursor = std::move(next)};
  const auto rooms = object_or_empty(response.body, "rooms");
  co_await join_rooms(object_or_empty(rooms, "invite"), batch, stop);
  // Messages from before the channel existed were not meant for it.
  if (is_first) co_return batch;
  const auto joined_rooms = object_or_empty(rooms, "join");
  for (const auto& [name, value] : joined_rooms) {
    if (!value.is_object()) continue;
    const std::string room(name);
    const auto& joined = value.get_object();
    auto events = co_await events_of(room, joined, cursor, stop);
    if (!events.empty()) {
      const bool group = co_await is_group(room, joined, stop);
      co_await add_messages(room, group, std::move(events), batch, stop);
    }
  }
  if (stop.requested()) batch.end = ReceivedBatch::End::stopped;
  co_return batch;
}

bool Matrix::may_invite(std::string_view person) const { return settings_.pairing || settings_.allow.contains(person); }

Task<> Matrix::join_rooms(json::object invited, ReceivedBatch& batch, StopSource& stop) const {
  AGW_ASSERT(!user_id_.empty());
  for (const auto& [room, value] : invited) {
    const auto* invitation = value.if_object();
    const auto state = invitation ? object_or_empty(*invitation, "invite_state") : json::object();
    const auto* events = array_member(state, "events");
    if (!events) continue;
    const bool may_join = std::ranges::any_of(*events, [&](const json::value& one) {
      const auto* event = one.if_object();
      if (!event || string_member(*event, "state_key") != user_id_) return false;
      return may_invite(string_or_empty(*event, "sender"));
    });
    if (may_join) co_await join(std::string(room), {}, batch, stop);
  }
}

/// Joins a room. If it replaces another one, its thread moves: both rooms must say so, since anybody can claim it in
/// their own room.
Task<> Matrix::join(std::string room, std::string server, ReceivedBatch& batch, StopSource& stop) const {
  auto path = room_path(room, "/join");
  // The account's server asks this one if it has nobody in the room.
  if (!server.empty()) path = fmt::format("{0}/join/{1}?server_name={2}&via={2}", api, percent_encode(room), server);
  const auto joined = co_await require("POST", std::move(path), stop);
  if (joined.status != 200) co_return;
  const auto created = co_await require("GET", room_path(room, "/state/m.room.create"), stop);
  const auto former = string_or_empty(object_or_empty(created.body, "predecessor"), "room_id");
  if (former.empty()) co_return;
  const auto end = co_await require("GET", room_path(former, "/state/m.room.tombstone"), stop);
  if (string_member(end.body, "replacement_room") != room) co_return;
  batch.messages.push_back({.update = {},
                            .place = {.chat = std::move(room), .topic = {}, .is_group = false},
                            .message = {},
                            .sender = {},
                            .sender_name = {},
                            .text = {},
                            .moved_from = former});
}

Task<std::vector<json::object>> Matrix::events_of(std::string room, json::object joined, std::string cursor,
                                                  StopSource& stop) const {
  const auto timeline = object_or_empty(joined, "timeline");
  std::vector<json::object> events;
  const auto add_to = [](std::vector<json::object>& list, const json::array* listed) {
    for (const auto& one : listed ? *listed : json::array()) {
      if (one.is_object()) list.push_back(one.get_object());
    }
  };
  add_to(events, array_member(timeline, "events"));
  auto from = string_or_empty(timeline, "prev_batch");
  std::vector<json::object> earlier;  // newest first
  while (is_true(timeline, "limited") && !from.empty() && earlier.size() < max_events && !stop.requested()) {
    const auto page =
        co_await require("GET",
                         room_path(room, fmt::format("/messages?dir=b&limit={}&from={}&to={}", max_events_per_page,
                                                     percent_encode(from), percent_encode(cursor))),
                         stop);
    const auto* chunk = array_member(page.body, "chunk");
    if (page.status != 200 || !chunk || chunk->empty()) break;
    add_to(earlier, chunk);
    from = string_or_empty(page.body, "end");
  }
  std::ranges::reverse(earlier);
  events.insert(events.begin(), std::make_move_iterator(earlier.begin()), std::make_move_iterator(earlier.end()));
  // The timeline of a room that was just joined also has messages from before, which were not meant for the channel.
  if (is_true(timeline, "limited")) events.erase(events.begin(), membership_in(events, user_id_));
  co_return events;
}

Task<bool> Matrix::is_group(std::string room, json::object joined, StopSource& stop) {
  const auto summary = object_or_empty(joined, "summary");
  if (const auto* count = summary.if_contains("m.joined_member_count"); count && count->is_int64()) {
    members_[room] = count->get_int64();
  }
  if (!members_.contains(room)) {
    const auto response = co_await require("GET", room_path(room, "/joined_members"), stop);
    const auto* members = object_member(response.body, "joined");
    // If the members are unknown, the room counts as a group: there may be strangers in it.
    if (!members) co_return true;
    members_[room] = static_cast<std::int64_t>(members->size());
  }
  co_return members_[room] > 2;
}

Task<json::object> Matrix::find_event(std::string room, std::string id, const std::vector<json::object>& events,
                                      StopSource& stop) const {
  const auto listed =
      std::ranges::find_if(events, [&](const auto& one) { return string_member(one, "event_id") == id; });
  if (listed != events.end()) co_return *listed;
  const auto response = co_await call("GET", room_path(room, "/event/" + percent_encode(id)), {}, stop);
  co_return response.status == 200 ? response.body : json::object();
}

/// The message in an event; nullopt if it has none, or one that is not to be answered.
std::optional<ReceivedMessage> Matrix::message_in(const json::object& event, const std::string& room,
                                                  bool is_group) const {
  // Otherwise our own messages would not be recognised, and answered.
  AGW_ASSERT(!user_id_.empty());
  const auto content = object_or_empty(event, "content");
  const auto sender = string_or_empty(event, "sender");
  const auto kind = string_or_empty(content, "msgtype");
  const auto type = string_or_empty(event, "type");
  const bool is_encrypted = type == "m.room.encrypted" && content.contains("algorithm");
  // Notices come from programs, which could answer each other endlessly.
  const bool is_said =
      sender != user_id_ && (is_encrypted || (type == "m.room.message" && !kind.empty() && kind != "m.notice"));
  const auto relation = object_or_empty(content, "m.relates_to");
  if (!is_said || string_member(relation, "rel_type") == "m.replace") return std::nullopt;
  ReceivedMessage message{.update = string_or_empty(event, "event_id"),
                          .place = {.chat = room, .topic = {}, .is_group = is_group},
                          .message = string_or_empty(event, "event_id"),
                          .sender = sender,
                          .sender_name = sender,
                          .text = {}};
  if (settings_.threads == ChannelThreads::topic && string_member(relation, "rel_type") == "m.thread") {
    message.place.topic = string_or_empty(relation, "event_id");
  }
  if (is_encrypted) {
    log::warn("the channel {} cannot read an encrypted message: write to it in a room without encryption",
              settings_.name);
    message.unreadable =
        "I cannot read encrypted messages. Invite me into a room without encryption: in this one, it cannot be "
        "switched off.";
  } else {
    add_content(content, message);
  }
  const bool has_content = !message.text.empty() || !message.files.empty() || is_encrypted;
  const bool has_place = !message.update.empty() && !sender.empty() && !room.empty();
  if (!has_place || !has_content) return std::nullopt;
  return message;
}

Task<> Matrix::add_messages(std::string room, bool is_group, std::vector<json::object> events, ReceivedBatch& batch,
                            StopSource& stop) const {
  for (const auto& event : events) {
    const auto content = object_or_empty(event, "content");
    const auto sender = string_or_empty(event, "sender");
    const auto next = string_or_empty(content, "replacement_room");
    if (string_member(event, "type") == "m.room.tombstone" && !next.empty() && may_invite(sender))
      co_await join(next, percent_encode(sender.substr(std::min(sender.find(':'), sender.size() - 1) + 1)), batch,
                    stop);
    auto message = message_in(event, room, is_group);
    if (!message) continue;
    // Strangers cause no requests.
    if (auto id = replied_to(content); !id.empty() && settings_.allow.contains(sender))
      add_original(co_await find_event(room, std::move(id), events, stop), user_id_, *message);
    batch.messages.push_back(*std::move(message));
  }
}

SendResult Matrix::refusal_of(const ServiceResponse& response) const {
  const bool may_work_later = response.status == 429 || response.status == 401;
  // A 5xx may come from a proxy although the server has accepted the message.
  return {.end = response.status >= 500 ? End::uncertain
                 : may_work_later       ? End::retry
                                        : End::refused,
          .error = text_of_error(response),
          .retry_after = matrix_retry_after(response)};
}

Task<std::optional<SendResult>> Matrix::upload(const OutgoingFile& file, json::object& content,
                                               StopSource& stop) const {
  const auto response =
      co_await call_service(http_, account_,
                            {.path = "/_matrix/media/v3/upload?filename=" + percent_encode(file.name),
                             .headers = {{"Authorization", "Bearer " + account_.token}, {"Content-Type", file.mime}},
                             .body = file.bytes,
                             .idle_timeout = 60s},
                            stop);
  if (response.stopped) co_return SendResult{.end = End::stopped};
  if (response.status == 0) co_return SendResult{.end = End::retry, .error = response.error};
  const auto uri = string_or_empty(response.body, "content_uri");
  if (response.status != 200 || uri.empty()) co_return refusal_of(response);
  content["msgtype"] = file.mime.starts_with("image/") ? "m.image" : "m.file";
  content["body"] = file.name;
  content["filename"] = file.name;
  content["url"] = uri;
  content["info"] = {{"mimetype", file.mime}, {"size", file.bytes.size()}};
  co_return std::nullopt;
}

Task<SendResult> Matrix::send(OutgoingMessage message, StopSource& stop) {
  const auto path = room_path(message.to.chat, "/send/m.room.message/" + percent_encode(message.id));
  auto content = content_of(message);
  if (!message.files.empty()) {
    if (auto problem = co_await upload(message.files.front(), content, stop)) co_return *std::move(problem);
  }
  const auto response = co_await call("PUT", path, std::move(content), stop);
  if (response.stopped) co_return SendResult{.end = End::stopped};
  if (response.status == 0) co_return SendResult{.end = End::uncertain, .error = response.error};
  if (response.status == 200)
    co_return SendResult{.end = End::sent, .message = string_or_empty(response.body, "event_id")};
  co_return refusal_of(response);
}

Task<SendResult> Matrix::draft(ChatPlace, std::int64_t, std::string, StopSource&) {
  co_return SendResult{.end = End::refused, .error = "Matrix has no drafts"};
}

Task<std::chrono::milliseconds> Matrix::show_typing(ChatPlace place, bool is_typing, StopSource& stop) {
  json::object content{{"typing", is_typing}};
  if (is_typing) content["timeout"] = std::chrono::milliseconds(typing_timeout).count();
  const auto response =
      co_await call("PUT", room_path(place.chat, "/typing/" + percent_encode(user_id_)), content, stop);
  if (response.status == 200) co_return typing_timeout - typing_overlap;
  co_return std::max<std::chrono::milliseconds>(matrix_retry_after(response), pause_after_failed_typing);
}

Task<> Matrix::acknowledge(std::string, std::string, StopSource&) { co_return; }

Task<FetchedFile> Matrix::fetch(ReceivedFile file, StopSource& stop) {
  constexpr std::string_view scheme = "mxc://";
  const auto slash = file.id.find('/', scheme.size());
  if (!file.id.starts_with(scheme) || slash == file.id.npos) co_return FetchedFile{{}, "it is not at a Matrix server"};
  const auto server = percent_encode(std::string_view(file.id).substr(scheme.size(), slash - scheme.size()));
  auto response =
      co_await call_service(http_, account_,
                            {.method = "GET",
                             .path = fmt::format("/_matrix/client/v1/media/download/{}/{}", server,
                                                 percent_encode(std::string_view(file.id).substr(slash + 1))),
                             .headers = {{"Authorization", "Bearer " + account_.token}},
                             .max_bytes = attachment_limit,
                             .keeps_bytes = true},
                            stop);
  if (response.status == 200) co_return FetchedFile{std::move(response.bytes), {}};
  co_return FetchedFile{{}, text_of_error(response)};
}

}  // namespace agw
