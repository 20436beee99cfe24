// The commands that a channel runs itself. Other commands are passed to the agent.

#include <fmt/format.h>

#include "features/channels/inbox.hpp"

namespace agw {

namespace {

constexpr std::string_view help =
    "Write a message, and the agent answers. Commands:\n"
    "/new begins a new chat\n"
    "/stop stops the answer\n"
    "/plan lets the agent only look and think\n"
    "/act lets it act again\n"
    "/status says what is going on";

/// The command of a message: `stop` for `/stop` and, in groups, `/stop@name`. Empty if the text is not a command.
std::string_view command_of(std::string_view text) {
  if (!text.starts_with('/')) return {};
  text.remove_prefix(1);
  text = text.substr(0, text.find_first_of(" \n"));
  return text.substr(0, text.find('@'));
}

}  // namespace

/// Returns false if the message is not such a command.
Task<bool> ChannelInbox::run_command(ReceivedMessage message) {
  const auto command = message.forwarded_from.empty() ? command_of(message.text) : std::string_view();
  const auto place = message.place;
  if (command == "new") {
    co_await reply(
        std::move(message), "The next message begins a new chat.",
        [id = settings_.id, place](Connection& connection) { channel_store::forget_thread(connection, id, place); });
    co_return true;
  }
  std::string text;
  if (command == "stop") {
    text = co_await stop_run(place);
  } else if (command == "plan" || command == "act") {
    text = co_await set_mode(place, command == "plan" ? ThreadMode::plan : ThreadMode::act);
  } else if (command == "status") {
    text = co_await status_of(place);
  } else if (command == "start" || command == "help") {
    text = help;
  } else {
    co_return false;
  }
  co_await reply(std::move(message), std::move(text));
  co_return true;
}

Task<std::string> ChannelInbox::stop_run(ChatPlace place) {
  const auto thread = co_await known_thread(std::move(place));
  const bool has_stopped = thread && (co_await services_.engine.stop_chat({.threadId = *thread})).status == "stopped";
  co_return has_stopped ? "Stopped." : "Nothing is running.";
}

Task<std::string> ChannelInbox::set_mode(ChatPlace place, ThreadMode mode) {
  const auto thread = co_await thread_for(std::move(place));
  co_await services_.threads.change(
      thread, {.title = {}, .archived = {}, .pinned = {}, .mode = {.given = true, .value = mode}});
  co_return mode == ThreadMode::plan ? "The agent only looks and thinks. /act lets it act again." : "The agent acts.";
}

Task<std::string> ChannelInbox::status_of(ChatPlace place) {
  const auto agent = services_.extensions.find_agent(settings_.agent_id.empty() ? "assistant" : settings_.agent_id);
  auto text = fmt::format("Agent: {}", agent ? agent->name : settings_.agent_id + " (does not exist)");
  const auto id = co_await known_thread(std::move(place));
  if (!id) co_return text + "\nThe next message begins a new chat.";
  const auto thread = co_await services_.threads.require(*id);
  const auto runs = services_.runs.of_thread(*id).size();
  text += fmt::format("\nChat: {}\nMode: {}", thread.title, to_text(thread.mode));
  text += runs == 0 ? "\nNothing is running." : "\nAn answer is being written.";
  if (runs > 1) text += fmt::format(" {} more wait.", runs - 1);
  co_return text;
}

}  // namespace agw
