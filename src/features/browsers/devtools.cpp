#include "features/browsers/devtools.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/text/numbers.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr char end_of_message = '\0';
/// Of `\uXXXX`.
constexpr std::size_t escape_length = 6;

json::object failure(std::string_view why) { return {{"error", json::object{{"message", why}}}}; }

/// The unit of UTF-16 that `text` begins with, as an escape such as `\uD83D`.
std::optional<unsigned> escaped_unit(std::string_view text) {
  if (text.size() < escape_length || !text.starts_with("\\u")) return std::nullopt;
  return parse_number<unsigned>(text.substr(2, escape_length - 2), 16);
}

}  // namespace

std::string without_lone_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t taken = text.front() == '\\' && text.size() > 1 ? 2 : 1;
    if (const auto unit = escaped_unit(text)) {
      taken = escape_length;
      const auto next = escaped_unit(text.substr(escape_length));
      if (is_high_surrogate(*unit) && next && is_low_surrogate(*next)) {
        taken += escape_length;
      } else if (is_high_surrogate(*unit) || is_low_surrogate(*unit)) {
        out += "\\uFFFD";
        text.remove_prefix(escape_length);
        continue;
      }
    }
    out += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return out;
}

DevTools::DevTools(Loop& loop, Process& process, Handler handle_event)
    : loop_(loop), process_(process), handle_event_(std::move(handle_event)), written_(loop) {
  AGW_ASSERT(handle_event_);
}

Task<> DevTools::read_all() {
  std::string input;
  for (;;) {
    const auto bytes = co_await process_.read();
    if (bytes.empty()) co_return;
    std::string_view rest = bytes;
    for (auto at = rest.find(end_of_message); at != rest.npos; at = rest.find(end_of_message)) {
      input += rest.substr(0, at);
      rest.remove_prefix(at + 1);
      take(input);
      input.clear();
    }
    input += rest;
    if (input.size() > max_message) throw std::runtime_error("Chromium has sent a message of more than 32 MiB");
  }
}

void DevTools::take(std::string_view text) {
  auto parsed = parse_json(text, {.max_depth = max_own_json_depth});
  if (!parsed) parsed = parse_json(without_lone_surrogates(text), {.max_depth = max_own_json_depth});
  auto* message = parsed ? parsed->if_object() : nullptr;
  if (!message) throw std::runtime_error("Chromium has sent something else than a JSON object");
  const auto* id = message->if_contains("id");
  if (id && id->is_int64()) {
    // A response to a command of a dropped session is nobody's.
    auto found = waiting_.extract(id->get_int64());
    if (found && found.mapped().answered) found.mapped().answered(*message);
    return;
  }
  auto params = object_or_empty(*message, "params");
  handle_event_(string_or_empty(*message, "sessionId"), string_or_empty(*message, "method"), params);
}

Task<> DevTools::write_all() {
  for (;;) {
    while (output_.empty()) co_await written_.wait();
    if (!co_await process_.write(std::exchange(output_, {}))) co_return;
  }
}

void DevTools::post(const std::string& session, std::string_view method, json::object params, Answered answered) {
  AGW_ASSERT(!method.empty());
  if (has_ended_ || is_full()) {
    auto response = failure(has_ended_ ? "the browser has ended" : "the browser does not read");
    if (answered) answered(response);
    return;
  }
  json::object message{{"id", ++last_id_}, {"method", method}, {"params", std::move(params)}};
  if (!session.empty()) message["sessionId"] = session;
  output_ += to_json(message);
  output_ += end_of_message;
  waiting_.emplace(last_id_, Waiting{.session = session, .answered = std::move(answered)});
  written_.pulse();
}

Task<json::object> DevTools::call(std::string session, std::string method, json::object params) {
  struct Response {
    explicit Response(Loop& loop) : arrived(loop) {}
    AsyncEvent arrived;
    json::object content;
  };
  // Shared, because the response may come after the caller was cancelled.
  const auto awaited = std::make_shared<Response>(loop_);
  post(session, method, std::move(params), [awaited](json::object& response) {
    awaited->content = std::move(response);
    awaited->arrived.notify();
  });
  co_await awaited->arrived.wait();
  co_return std::move(awaited->content);
}

void DevTools::drop(const std::string& session) { answer_all(&session, "the tab was closed"); }

void DevTools::end() {
  has_ended_ = true;
  answer_all(nullptr, "the browser has ended");
  AGW_ASSERT(waiting_.empty());
}

void DevTools::answer_all(const std::string* session, std::string_view why) {
  std::vector<Answered> unanswered;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const bool is_meant = !session || each->second.session == *session;
    if (is_meant && each->second.answered) unanswered.push_back(std::move(each->second.answered));
    each = is_meant ? waiting_.erase(each) : std::next(each);
  }
  // Only now, because an answer may post the next command.
  for (const auto& answered : unanswered) {
    auto response = failure(why);
    answered(response);
  }
}

}  // namespace agw
