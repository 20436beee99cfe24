#include "io/nats/libnats.hpp"

#include "base/dynamic_library.hpp"

namespace agw {

namespace {

Nats load_nats() {
  Nats nats;
  DynamicLibrary library("libnats.so.3.4", "libnats3.4");
  library.find("natsOptions_Create", nats.options_create);
  library.find("natsOptions_Destroy", nats.options_destroy);
  library.find("natsOptions_SetServers", nats.set_servers);
  library.find("natsOptions_SetUserInfo", nats.set_user);
  library.find("natsOptions_SetToken", nats.set_token);
  library.find("natsOptions_SetSecure", nats.set_secure);
  library.find("natsOptions_SetName", nats.set_name);
  library.find("natsOptions_SetTimeout", nats.set_timeout);
  library.find("natsOptions_SetMaxReconnect", nats.set_max_reconnect);
  library.find("natsOptions_SetReconnectWait", nats.set_reconnect_wait);
  library.find("natsOptions_SetPingInterval", nats.set_ping_interval);
  library.find("natsOptions_SetMaxPingsOut", nats.set_max_pings_out);
  library.find("natsOptions_SetMaxPendingMsgs", nats.set_max_pending);
  library.find("natsOptions_SetSendAsap", nats.set_send_asap);
  library.find("natsOptions_SetNoEcho", nats.set_no_echo);
  library.find("natsOptions_UseGlobalMessageDelivery", nats.use_global_delivery);
  library.find("natsOptions_SetRetryOnFailedConnect", nats.set_retry_on_failed_connect);
  library.find("natsOptions_SetDisconnectedCB", nats.on_disconnected);
  library.find("natsOptions_SetReconnectedCB", nats.on_reconnected);
  library.find("natsOptions_SetClosedCB", nats.on_closed);
  library.find("natsOptions_SetErrorHandler", nats.on_error);
  library.find("nats_SetMessageDeliveryPoolSize", nats.set_delivery_pool_size);
  library.find("nats_GetLastError", nats.last_error);
  library.find("natsStatus_GetText", nats.status_text);
  library.find("natsConnection_Connect", nats.connect);
  library.find("natsConnection_Destroy", nats.destroy);
  library.find("natsConnection_Publish", nats.publish);
  library.find("natsConnection_Subscribe", nats.subscribe);
  library.find("natsConnection_FlushTimeout", nats.flush);
  library.find("natsSubscription_Destroy", nats.subscription_destroy);
  library.find("natsMsg_GetSubject", nats.subject);
  library.find("natsMsg_GetData", nats.data);
  library.find("natsMsg_GetDataLength", nats.data_length);
  library.find("natsMsg_Destroy", nats.message_destroy);
  nats.problem = library.problem();
  return nats;
}

}  // namespace

const Nats& Nats::get() {
  static const Nats nats = load_nats();
  return nats;
}

}  // namespace agw
