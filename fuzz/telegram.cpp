// Updates of Telegram's Bot API: each is ignored, or read as a message with its sender and chat.

#include "features/channels/telegram.hpp"
#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto update = agw::parse_json(agw::fuzzing::text_of(data, size));
  if (!update || !update->is_object()) return 0;
  for (const auto threads : {agw::ChannelThreads::chat, agw::ChannelThreads::topic}) {
    const auto message = agw::telegram_message(update->get_object(), threads);
    if (!message) continue;
    if (!message->moved_from.empty()) {
      agw::fuzzing::require(!message->place.chat.empty());
    } else if (message->press.empty()) {
      agw::fuzzing::require(!message->sender.empty() && !message->place.chat.empty());
      agw::fuzzing::require(!message->text.empty() || !message->files.empty());
    }
    if (agw::continues(update->get_object(), update->get_object()))
      agw::fuzzing::require(agw::may_continue(update->get_object()));
    for (const auto& file : message->files) agw::fuzzing::require(!file.id.empty() && !file.name.empty());
  }
  return 0;
}
