#include "features/channels/channel_memory.hpp"

#include <algorithm>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr auto late_answers = std::chrono::minutes(10);

}  // namespace

bool AskedRequest::is_in(const ChatPlace& place) const {
  return std::ranges::any_of(copies, [&](const Copy& copy) { return copy.place == place; });
}

void ChannelMemory::expire() {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(strangers, [now](const Stranger& one) { return one.until <= now; });
  std::erase_if(ended, [now](const auto& one) { return one->ended_at + late_answers <= now; });
  AGW_DEBUG_ASSERT(std::ranges::all_of(asked, [](const auto& one) { return one->outcome.empty(); }));
  AGW_DEBUG_ASSERT(std::ranges::none_of(ended, [](const auto& one) { return one->outcome.empty(); }));
}

const Stranger* ChannelMemory::find_stranger(std::string_view code) {
  expire();
  const auto found = std::ranges::find(strangers, code, &Stranger::code);
  return found == strangers.end() ? nullptr : &*found;
}

void ChannelMemory::remove_stranger(std::string_view code) {
  std::erase_if(strangers, [code](const Stranger& one) { return one.code == code; });
}

AskedRequestPointer ChannelMemory::find_asked(std::string_view id) const {
  const auto found = std::ranges::find_if(asked, [id](const auto& one) { return one->id == id; });
  return found == asked.end() ? nullptr : *found;
}

int ChannelMemory::next_number() {
  expire();
  int next = 1;
  for (const auto* requests : {&asked, &ended})
    for (const auto& one : *requests) next = std::max(next, one->end_number());
  AGW_ASSERT(next > 0);
  return next;
}

}  // namespace agw
