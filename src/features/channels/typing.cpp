#include "features/channels/typing.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace agw {

using namespace std::chrono_literals;

ChannelTyping::ChannelTyping(Loop& loop, Messenger& messenger, StopSource& stop,
                             std::function<std::set<ChatPlace>()> chats)
    : messenger_(messenger), stop_(stop), chats_(std::move(chats)), changed_(loop), group_(loop) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::debug("a channel could not show that an answer is being written: {}", message_of(failure));
  });
}

void ChannelTyping::update() {
  if (is_active_) return changed_.notify();
  if (stop_.requested()) return;
  is_active_ = true;
  group_.spawn(work());
}

Task<> ChannelTyping::work() {
  try {
    while (!stop_.requested() && co_await step()) {
    }
  } catch (...) {
    is_active_ = false;
    throw;
  }
  is_active_ = false;
}

Task<bool> ChannelTyping::step() {
  changed_.reset();
  const auto wanted = chats_();
  const auto ended = std::ranges::find_if(shown_, [&](const auto& one) { return !wanted.contains(one.first); });
  if (ended != shown_.end()) {
    const auto chat = ended->first;
    shown_.erase(ended);
    co_await messenger_.show_typing(chat, false, stop_);
    co_return true;
  }
  if (wanted.empty()) co_return false;
  const auto due = *std::ranges::min_element(wanted, {}, [this](const ChatPlace& chat) { return shown_[chat]; });
  const auto now = std::chrono::steady_clock::now();
  if (const auto left = shown_[due] - now; left > 0s)
    co_await with_timeout(stop_, std::chrono::ceil<std::chrono::milliseconds>(left), changed_.wait());
  else
    shown_[due] = now + co_await messenger_.show_typing(due, true, stop_);
  co_return true;
}

}  // namespace agw
