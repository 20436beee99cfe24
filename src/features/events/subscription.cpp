#include "features/events/subscription.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace agw {

namespace {

/// The kinds that keep lists up to date, sent for all threads to a connection that subscribed with `lists`.
constexpr std::array list_kinds = {std::string_view("turn-created"), std::string_view("thread-updated"),
                                   std::string_view("job-started"),  std::string_view("job-finished"),
                                   std::string_view("finish"),       std::string_view("stopped")};

std::string error(std::string_view text) { return to_json(json::object{{"type", "error"}, {"error", text}}); }

/// The threads that a message names, by `threadId` or `threadIds`; nothing where it names none properly.
std::optional<std::vector<std::string>> named_threads(const json::object& message) {
  std::vector<std::string> threads;
  const auto* one = message.if_contains("threadId");
  const auto* many = message.if_contains("threadIds");
  if (one && !one->is_null()) {
    if (!one->is_string()) return std::nullopt;
    threads.emplace_back(one->get_string());
  }
  if (many && !many->is_null()) {
    if (!many->is_array()) return std::nullopt;
    for (const auto& id : many->get_array()) {
      if (!id.is_string()) return std::nullopt;
      threads.emplace_back(id.get_string());
    }
  } else if (threads.empty()) {
    return std::nullopt;
  }
  return threads;
}

/// What is wrong with a message that names no threads properly.
std::string_view problem_of_threads(const json::object& message) {
  const auto given = [&](std::string_view name) {
    const auto* value = message.if_contains(name);
    return value && !value->is_null();
  };
  if (given("threadId") && !message.at("threadId").is_string()) return "threadId must be a string";
  return given("threadIds") ? "threadIds must be an array of strings" : "threadId or threadIds is required";
}

/// A member that may be omitted; nothing where it is no boolean.
std::optional<bool> flag(const json::object& message, std::string_view name) {
  const auto* value = message.if_contains(name);
  if (!value || value->is_null()) return false;
  return value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

}  // namespace

std::string Subscription::take(std::string_view text) {
  const auto value = parse_json(text);
  if (!value) return error("Invalid JSON");
  if (!value->is_object()) return error("a message must be an object");
  const auto& message = value->get_object();
  const auto type = string_member(message, "type");
  if (!type) return error("type is required");
  if (*type == "ping") return R"({"type":"pong"})";
  if (*type == "subscribe") return subscribe(message);
  if (*type == "unsubscribe") return unsubscribe(message);
  return error("unknown message type: " + std::string(*type));
}

std::string Subscription::subscribe(const json::object& message) {
  const auto threads = named_threads(message);
  const auto lists = flag(message, "lists");
  const auto resume = flag(message, "resume");
  if (!lists) return error("lists must be a boolean");
  if (!resume) return error("resume must be a boolean");
  if (!threads && !*lists) return error(problem_of_threads(message));
  narrowed_ = true;
  if (const auto* given = message.if_contains("lists"); given && given->is_bool()) lists_ = *lists;
  if (threads) threads_.insert(threads->begin(), threads->end());
  return current_set(*resume);
}

std::string Subscription::unsubscribe(const json::object& message) {
  const auto threads = named_threads(message);
  if (!threads) return error(problem_of_threads(message));
  for (const auto& thread : *threads) threads_.erase(thread);
  return current_set(false);
}

std::string Subscription::current_set(bool with_runs) const {
  json::array ids;
  for (const auto& thread : threads_) ids.emplace_back(thread);
  json::object answer{{"type", "subscribed"}, {"threadIds", std::move(ids)}};
  if (with_runs) answer["runs"] = runs_under_way_(&threads_);
  return to_json(answer);
}

bool Subscription::wants(const Event& event) const {
  if (event.thread_id.empty() || !narrowed_) return true;
  if (threads_.contains(event.thread_id)) return true;
  return lists_ && std::find(list_kinds.begin(), list_kinds.end(), event.type) != list_kinds.end();
}

}  // namespace agw
