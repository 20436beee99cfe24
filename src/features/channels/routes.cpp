#include "features/channels/service.hpp"

namespace agw {

namespace {

Response list_channels(Channels& channels, const Request& request) { return request.respond(channels.list()); }

Task<Response> confirm_sender(Channels& channels, Request& request) {
  co_return request.respond(co_await channels.confirm(request.body<ConfirmSender>()));
}

}  // namespace

Routes channel_routes(Channels& channels) {
  return {
      get("/channels", "List the connected messengers and their state", list_channels, channels)
          .responds<std::vector<ChannelStatus>>(),
      post("/channels/pair", "Admit somebody who wrote to a channel, by their code", confirm_sender, channels)
          .body<ConfirmSender>()
          .responds<ConfirmedSender>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
