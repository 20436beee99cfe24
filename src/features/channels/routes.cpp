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
      get("/channels", "List the messengers that are connected, and how they are", list_channels, channels)
          .responds<std::vector<ChannelStatus>>(),
      post("/channels/pair", "Let somebody in who wrote to a channel: their code", confirm_sender, channels)
          .body<ConfirmSender>()
          .responds<ConfirmedSender>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
