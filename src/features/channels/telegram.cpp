// The messenger for Telegram's Bot API: each call is an HTTP request with the token in its path.
//
// Reading is a long poll (`getUpdates`). The cursor is the id of the last update. The next poll confirms it with
// `offset`; until then Telegram keeps the updates, so none is lost before the channel has stored the cursor. The first
// poll returns immediately, which shows whether the account works. Status 409 means that another program polls; only
// the second consecutive one counts, because our own last poll may not have ended yet.
//
// An album arrives as one update for each file, and a long text in parts. If a poll ends with one of these, the same
// updates are polled again until no more have come, and then they are one message.
//
// Sending is not idempotent: without a response, the result is `uncertain`. An edit may be repeated, so its result is
// `retry`. Markup that Telegram cannot parse is sent again as plain text; an edit of a deleted message becomes a new
// message; an edit that changes nothing counts as sent. Of a group that became a supergroup, the error names the new
// id.
//
// Errors may quote the address with the token, which is therefore removed from every error.

#include "features/channels/telegram.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/numbers.hpp"
#include "features/attachments/service.hpp"
#include "features/channels/markup.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using End = SendResult::End;

constexpr auto poll_timeout = 50s;
/// The time after `poll_timeout` within which the service must respond.
constexpr auto poll_grace = 20s;
constexpr auto idle_pause = 500ms;
/// The wait for the rest of an album or of a long text.
constexpr auto pause_for_rest = 1s;
constexpr int max_polls_for_rest = 10;
constexpr auto action_interval = 5s;
constexpr std::size_t max_updates = 100;
constexpr std::size_t max_press_response = 200;
constexpr std::size_t max_caption = 1024;
/// A larger picture is sent as a file.
constexpr std::size_t max_photo = 10 * 1024 * 1024;

/// An id as a JSON number.
json::value number_of(std::string_view id) {
  const auto number = parse_number<std::int64_t>(id);
  return number ? json::value(*number) : json::value(id);
}

json::object addressed(const ChatPlace& place) {
  json::object parameters{{"chat_id", number_of(place.chat)}};
  if (!place.topic.empty()) parameters["message_thread_id"] = number_of(place.topic);
  return parameters;
}

/// Changes the parameters so that another call may reach the chat. Returns whether there is hope.
bool readdress(json::object& parameters, const ServiceResponse& response) {
  if (response.status != 400) return false;
  const auto hints = object_or_empty(response.body, "parameters");
  if (const auto* chat = hints.if_contains("migrate_to_chat_id")) {
    parameters["chat_id"] = *chat;
    return true;
  }
  // A deleted topic: the answer is better in the chat than nowhere.
  const auto description = string_or_empty(response.body, "description");
  const bool is_topic_gone = description.find("message thread not found") != description.npos ||
                             description.find("TOPIC_DELETED") != description.npos;
  return is_topic_gone && parameters.erase("message_thread_id") > 0;
}

/// A multipart form with a file (RFC 7578).
std::string form_of(const json::object& fields, std::string_view name, const OutgoingFile& file,
                    std::string_view boundary) {
  std::string form;
  for (const auto& [key, value] : fields) {
    form += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n", boundary,
                        std::string_view(key), text_or_json(value));
  }
  auto shown = file.name;
  std::ranges::replace_if(shown, [](char c) { return c == '"' || c == '\\' || c == '\r' || c == '\n'; }, '_');
  form +=
      fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                  boundary, name, shown, file.mime);
  return form + file.bytes + fmt::format("\r\n--{}--\r\n", boundary);
}

json::object keyboard_of(const std::vector<MessageButton>& buttons) {
  json::array rows;
  for (const auto& button : buttons) {
    rows.push_back(json::array{json::object{{"text", button.label}, {"callback_data", button.data}}});
  }
  return {{"inline_keyboard", std::move(rows)}};
}

std::string description_of_error(const ServiceResponse& response) {
  if (!response.error.empty()) return response.error;
  return fmt::format("Telegram answered {}: {}", response.status, string_or_empty(response.body, "description"));
}

std::chrono::milliseconds retry_after_of(const ServiceResponse& response) {
  const auto parameters = object_or_empty(response.body, "parameters");
  const auto* seconds = parameters.if_contains("retry_after");
  constexpr std::int64_t most = std::chrono::floor<std::chrono::seconds>(max_retry_after).count();
  if (seconds && seconds->is_int64() && seconds->get_int64() > 0)
    return std::chrono::seconds(std::min(seconds->get_int64(), most));
  return std::min(response.retry_after, max_retry_after);
}

/// Whether the text is a command, such as `/stop@name`, that names another bot than this.
bool is_for_other_bot(std::string_view text, std::string_view name) {
  const auto word = text.substr(0, text.find_first_of(white_space));
  const auto at = word.find('@');
  if (name.empty() || at == word.npos || !word.starts_with('/')) return false;
  const auto command = word.substr(1, at - 1);
  const bool is_command =
      std::ranges::all_of(command, [](char character) { return is_alphanumeric(character) || character == '_'; });
  return is_command && ascii_lower_case(word.substr(at + 1)) != name;
}

json::object poll_parameters(const std::string& cursor) {
  json::object parameters{{"timeout", poll_timeout.count()},
                          {"limit", max_updates},
                          {"allowed_updates", json::array{"message", "callback_query"}}};
  if (cursor.empty()) return parameters;
  const auto last = number_of(cursor);
  parameters["offset"] = last.is_int64() ? last.get_int64() + 1 : 0;
  return parameters;
}

/// The number of updates, if more of the last message may follow; otherwise 0.
std::size_t incomplete_updates(const ServiceResponse& response) {
  const auto* updates = array_member(response.body, "result");
  if (response.status != 200 || !updates || updates->empty() || updates->size() >= max_updates) return 0;
  const auto* last = updates->back().if_object();
  return last && may_continue(*last) ? updates->size() : 0;
}

SendResult result_of(const ServiceResponse& response) {
  if (response.stopped) return {.end = End::stopped};
  if (response.status == 0) return {.end = End::uncertain, .error = response.error};
  if (response.status == 200 && is_true(response.body, "ok")) {
    const auto sent = object_or_empty(response.body, "result");
    const auto* id = sent.if_contains("message_id");
    return {.end = End::sent, .message = id && id->is_int64() ? std::to_string(id->get_int64()) : std::string()};
  }
  const bool may_work_later = response.status == 429 || response.status >= 500;
  return {.end = may_work_later ? End::retry : End::refused,
          .error = description_of_error(response),
          .retry_after = retry_after_of(response)};
}

}  // namespace

Telegram::Telegram(HttpClient& http, const ChannelAccount& account, ChannelThreads threads)
    : http_(http), account_(account), threads_(threads) {}

const Messenger::Traits& Telegram::traits() const {
  // https://core.telegram.org/bots/faq: one message per second in a chat, 20 per minute in a group, 30 per second in
  // total.
  static const Traits traits{.max_units = 4096,
                             .has_buttons = true,
                             .has_drafts = true,
                             .between_messages = 1s,
                             .between_in_group = 3s,
                             .per_second = 30};
  return traits;
}

Task<ServiceResponse> Telegram::call(std::string_view method, json::object parameters, StopSource& stop,
                                     std::chrono::milliseconds idle_timeout) const {
  co_return co_await call_service(http_, account_,
                                  {.path = fmt::format("/bot{}/{}", account_.token, method),
                                   .headers = {{"Content-Type", "application/json"}},
                                   .body = to_json(json::value(std::move(parameters))),
                                   .idle_timeout = idle_timeout},
                                  stop);
}

Task<ReceivedBatch> Telegram::read(std::string cursor, StopSource& stop) {
  if (!has_read_ && co_await knows_account(stop)) {
    has_read_ = true;
    co_return ReceivedBatch{.end = ReceivedBatch::End::read, .cursor = std::move(cursor)};
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto response = co_await poll(cursor, stop);
  auto batch = batch_of(response, std::move(cursor));
  // Pause here, because not every self-hosted server supports long polling.
  const bool is_idle = batch.end == ReceivedBatch::End::read && batch.messages.empty();
  if (is_idle && std::chrono::steady_clock::now() - begun < idle_pause) co_await pause(stop, idle_pause);
  co_return batch;
}

/// Tells the channel's state without the wait of a poll. If not, the next poll says why.
Task<bool> Telegram::knows_account(StopSource& stop) {
  const auto response = co_await call("getMe", {}, stop);
  name_ = ascii_lower_case(string_or_empty(object_or_empty(response.body, "result"), "username"));
  co_return !response.stopped && response.status == 200;
}

/// Polls, and again until the last message is complete.
Task<ServiceResponse> Telegram::poll(const std::string& cursor, StopSource& stop) {
  auto parameters = poll_parameters(cursor);
  auto response = co_await call("getUpdates", parameters, stop, poll_timeout + poll_grace);
  parameters["timeout"] = 0;
  for (int i = 0; i < max_polls_for_rest; ++i) {
    const auto count = incomplete_updates(response);
    if (count == 0 || co_await pause(stop, pause_for_rest) == WaitResult::stopped) break;
    auto later = co_await call("getUpdates", parameters, stop);
    const auto* updates = array_member(later.body, "result");
    if (later.status != 200 || !updates || updates->size() <= count) break;
    response = std::move(later);
  }
  co_return response;
}

ReceivedBatch Telegram::batch_of(const ServiceResponse& response, std::string cursor) {
  if (response.stopped) return {.end = ReceivedBatch::End::stopped};
  const auto* updates = array_member(response.body, "result");
  if (response.status != 200 || !updates) return problem_of(response);
  ReceivedBatch batch{.end = ReceivedBatch::End::read, .cursor = std::move(cursor)};
  has_read_ = true;
  conflicts_ = 0;
  const json::object* last = nullptr;  // the update that the last message ends with
  for (const auto& value : *updates) {
    const auto* update = value.if_object();
    if (!update) continue;
    const auto* id = update->if_contains("update_id");
    if (id && id->is_int64()) batch.cursor = std::to_string(id->get_int64());
    auto message = telegram_message(*update, threads_);
    if (!message || (message->place.is_group && is_for_other_bot(message->text, name_))) continue;
    if (last && continues(*update, *last))
      append(batch.messages.back(), *std::move(message));
    else
      batch.messages.push_back(*std::move(message));
    last = update;
  }
  return batch;
}

ReceivedBatch Telegram::problem_of(const ServiceResponse& response) {
  ReceivedBatch batch{.error = account_.secrets.hidden_in(description_of_error(response)),
                      .retry_after = retry_after_of(response)};
  // Ignore the first conflict: our own previous poll may not have ended at the service.
  if (response.status == 409 && conflicts_++ > 0) batch.end = ReceivedBatch::End::conflict;
  if (response.status == 401 || response.status == 404) batch.end = ReceivedBatch::End::refused;
  return batch;
}

Task<SendResult> Telegram::send(OutgoingMessage message, StopSource& stop) {
  if (!message.files.empty()) co_return co_await send_file(message, stop);
  auto result = co_await send_once(message, message.is_markdown, stop);
  // Telegram's HTML is strict: markup of people and models may be invalid, or leave no visible text.
  const auto says = [&result](std::string_view reason) { return result.error.find(reason) != std::string::npos; };
  if (message.is_markdown && result.end == End::refused && (says("can't parse") || says("empty"))) {
    result = co_await send_once(message, false, stop);
  }
  if (!message.edits.empty() && result.end == End::refused) {
    if (result.error.find("message is not modified") != std::string::npos) {
      co_return SendResult{.end = End::sent, .message = message.edits};
    }
    if (result.error.find("message to edit not found") != std::string::npos) {
      message.edits.clear();
      result = co_await send_once(message, message.is_markdown, stop);
    }
  }
  co_return result;
}

Task<SendResult> Telegram::send_once(const OutgoingMessage& message, bool with_markup, StopSource& stop) const {
  auto parameters = addressed(message.to);
  parameters["text"] = with_markup ? telegram_html(message.text) : message.text;
  if (with_markup) parameters["parse_mode"] = "HTML";
  // Otherwise Telegram loads the first link at once, which tells its server what is in the address.
  parameters["link_preview_options"] = {{"is_disabled", true}};
  if (!message.buttons.empty()) parameters["reply_markup"] = keyboard_of(message.buttons);
  if (!message.edits.empty()) {
    parameters.erase("message_thread_id");
    parameters["message_id"] = number_of(message.edits);
  } else if (!message.replies_to.empty()) {
    parameters["reply_parameters"] = {{"message_id", number_of(message.replies_to)},
                                      {"allow_sending_without_reply", true}};
  }
  const auto method = message.edits.empty() ? "sendMessage" : "editMessageText";
  auto result = result_of(co_await call_in_chat(method, std::move(parameters), stop));
  // An edit may be repeated.
  if (!message.edits.empty() && result.end == End::uncertain) result.end = End::retry;
  result.error = account_.secrets.hidden_in(result.error);
  co_return result;
}

Task<SendResult> Telegram::send_file(const OutgoingMessage& message, StopSource& stop) const {
  const auto& file = message.files.front();
  const bool is_photo = (file.mime == "image/jpeg" || file.mime == "image/png") && file.bytes.size() <= max_photo;
  auto fields = addressed(message.to);
  if (!message.text.empty()) fields["caption"] = utf16_prefix(message.text, max_caption);
  auto response = co_await upload(is_photo ? "photo" : "document", fields, message, stop);
  if (readdress(fields, response)) response = co_await upload(is_photo ? "photo" : "document", fields, message, stop);
  // Pictures may be at most 10,000 pixels wide and high together, and 20 times as long as wide. Files may have any
  // size.
  if (is_photo && response.status == 400) response = co_await upload("document", std::move(fields), message, stop);
  auto result = result_of(response);
  result.error = account_.secrets.hidden_in(result.error);
  co_return result;
}

/// Sends the first file of the message as a `photo` or `document`.
Task<ServiceResponse> Telegram::upload(std::string_view kind, json::object fields, const OutgoingMessage& message,
                                       StopSource& stop) const {
  const auto boundary = fmt::format("file-{}", message.id);
  co_return co_await call_service(
      http_, account_,
      {.path = fmt::format("/bot{}/{}", account_.token, kind == "photo" ? "sendPhoto" : "sendDocument"),
       .headers = {{"Content-Type", "multipart/form-data; boundary=" + boundary}},
       .body = form_of(fields, kind, message.files.front(), boundary),
       .idle_timeout = 60s},
      stop);
}

Task<ServiceResponse> Telegram::call_in_chat(std::string_view method, json::object parameters, StopSource& stop) const {
  auto response = co_await call(method, parameters, stop);
  if (readdress(parameters, response)) response = co_await call(method, std::move(parameters), stop);
  co_return response;
}

Task<SendResult> Telegram::draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) {
  auto parameters = addressed(place);
  parameters["draft_id"] = number;
  parameters["text"] = std::move(text);
  co_return result_of(co_await call_in_chat("sendMessageDraft", std::move(parameters), stop));
}

/// Telegram shows it for 5 s, and until the next message of the bot.
Task<std::chrono::milliseconds> Telegram::show_typing(ChatPlace place, bool is_typing, StopSource& stop) {
  if (!is_typing) co_return 0ms;
  auto parameters = addressed(place);
  parameters["action"] = "typing";
  const auto response = co_await call_in_chat("sendChatAction", std::move(parameters), stop);
  if (response.status == 200) co_return action_interval;
  co_return std::max<std::chrono::milliseconds>(retry_after_of(response), pause_after_failed_typing);
}

Task<> Telegram::acknowledge(std::string press, std::string text, StopSource& stop) {
  json::object parameters{{"callback_query_id", std::move(press)}};
  if (!text.empty()) parameters["text"] = utf16_prefix(text, max_press_response);
  co_await call("answerCallbackQuery", std::move(parameters), stop);
}

Task<FetchedFile> Telegram::fetch(ReceivedFile file, StopSource& stop) {
  const auto response = co_await call("getFile", {{"file_id", std::move(file.id)}}, stop);
  const auto path = string_or_empty(object_or_empty(response.body, "result"), "file_path");
  if (path.empty()) co_return FetchedFile{{}, account_.secrets.hidden_in(description_of_error(response))};
  auto content = co_await call_service(http_, account_,
                                       {.method = "GET",
                                        .path = fmt::format("/file/bot{}/{}", account_.token, path),
                                        .max_bytes = attachment_limit,
                                        .keeps_bytes = true},
                                       stop);
  if (content.status == 200) co_return FetchedFile{std::move(content.bytes), {}};
  co_return FetchedFile{{}, account_.secrets.hidden_in(description_of_error(content))};
}

}  // namespace agw
