#include "features/channels/service.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/time/time.hpp"
#include "features/channels/channel.hpp"

namespace agw {

namespace {

bool is_same_account(const ChannelSettings& one, const ChannelSettings& other) {
  const auto account = [](const ChannelSettings& of) { return std::tie(of.service, of.address, of.token, of.user); };
  return account(one) == account(other);
}

}  // namespace

Channels::Channels(const ChannelServices& services)
    : services_(services), group_(services.loop), listening_(services.hub, *this) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::error("a channel has stopped: {}; disable and enable it to try again", message_of(failure));
  });
}

Channels::~Channels() = default;

void Channels::start() {
  running_ = true;
  for (const auto& extension : services_.extensions.list({.type = ExtensionType::integration, .enabled = true})) {
    extension_changed(*extension, false);
  }
}

Task<> Channels::stop() {
  running_ = false;
  for (const auto& [id, channel] : channels_) channel->stop();
  co_await group_.join();
  channels_.clear();
}

void Channels::deliver(const DomainEvent& event) {
  if (const auto* extension = event.record.as<Extension>())
    extension_changed(*extension, event.name == "extension.deleted");
  for (const auto& [id, channel] : channels_) channel->deliver(event);
}

bool Channels::awaits(std::string_view names) const {
  return names == "proposal." &&
         std::ranges::any_of(channels_, [](const auto& one) { return one.second->awaits_proposals(); });
}

bool Channels::answers(std::string_view thread_id) const {
  return std::ranges::any_of(channels_, [&](const auto& one) { return one.second->answers(thread_id); });
}

void Channels::extension_changed(const Extension& extension, bool is_deleted) {
  if (extension.type != ExtensionType::integration || !running_) return;
  const bool should_run = extension.enabled && !is_deleted && is_channel(extension.definition.members());
  const auto known = channels_.find(extension.id);
  auto settings = should_run ? channel_settings(extension) : ChannelSettings();
  if (known != channels_.end()) {
    if (should_run && known->second->settings() == settings) return;
    known->second->stop();
  }
  if (should_run)
    connect(std::move(settings));
  else if (known != channels_.end())
    channels_.erase(known);
  if (is_deleted) group_.spawn(services_.hub.pending_effects().of(forget(extension.id)));
}

void Channels::connect(ChannelSettings settings) {
  AGW_ASSERT(running_);
  AGW_ASSERT(!settings.id.empty());
  const auto id = settings.id;
  auto& place = channels_[id];
  AGW_ASSERT(!place || place->settings().id == id);
  auto memory = place && is_same_account(place->settings(), settings) ? place->memory() : nullptr;
  if (memory)
    memory->threads = place->threads_in_question();
  else
    memory = std::make_shared<ChannelMemory>();
  place = std::make_shared<Channel>(services_, std::move(settings), std::move(memory));
  auto& ended = ended_[id];
  const auto before = std::exchange(ended, std::make_shared<AsyncEvent>(services_.loop));
  group_.spawn(run(place, before, ended));
}

/// Only one channel of an extension runs at a time: the next one continues from the state that its predecessor stored.
Task<> Channels::run(std::shared_ptr<Channel> channel, std::shared_ptr<AsyncEvent> before,
                     std::shared_ptr<AsyncEvent> ended) {
  if (before) co_await before->wait();
  std::exception_ptr failure;
  try {
    co_await channel->run();
  } catch (...) {
    failure = std::current_exception();
  }
  ended->notify();
  if (failure) std::rethrow_exception(failure);
}

Task<> Channels::forget(std::string id) {
  if (const auto ended = ended_.find(id); ended != ended_.end()) {
    const auto last = ended->second;
    co_await last->wait();
    ended_.erase(id);
  }
  co_await services_.database.write([id](Connection& connection) { channel_store::forget(connection, id); });
}

std::vector<ChannelStatus> Channels::list() const {
  std::vector<ChannelStatus> all;
  all.reserve(channels_.size());
  for (const auto& [id, channel] : channels_) all.push_back(channel->status());
  std::ranges::sort(all, {}, &ChannelStatus::name);
  return all;
}

Task<ConfirmedSender> Channels::confirm(ConfirmSender sender) {
  for (const auto& [id, known] : channels_) {
    const auto channel = known;
    const auto stranger = channel->find_stranger(sender.code);
    if (!stranger) continue;
    auto extension = services_.extensions.require(id);
    try {
      co_await channel->welcome(*stranger);
      for (bool is_allowed = false; !is_allowed;) {
        extension = services_.extensions.require(extension->id);
        auto definition = extension->definition.members();
        auto& allow = definition["allow"];
        if (!allow.is_array()) allow.emplace_array();
        allow.get_array().emplace_back(stranger->sender);
        json::object change{{"definition", std::move(definition)},
                            {"if_updated_at", to_iso8601(extension->updated_at)}};
        try {
          co_await services_.extensions.change(extension->id, std::move(change));
          is_allowed = true;
        } catch (const Conflict&) {  // it was changed at the same time
        }
      }
    } catch (...) {
      // The code can be tried again.
      channel->memory()->strangers.push_back(*stranger);
      throw;
    }
    co_return ConfirmedSender{.channel = extension->name, .sender = stranger->sender, .name = stranger->name};
  }
  throw NotFound("code not found");
}

}  // namespace agw
