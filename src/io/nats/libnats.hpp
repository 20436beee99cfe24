#pragma once

#include <nats/nats.h>

#include <string>

namespace agw {

/// libnats' functions, loaded at run time if a server is configured. Named as in its manual, without `nats`. Include
/// this in sources of io/nats only.
struct Nats {
  decltype(&::natsOptions_Create) options_create = nullptr;
  decltype(&::natsOptions_Destroy) options_destroy = nullptr;
  decltype(&::natsOptions_SetServers) set_servers = nullptr;
  decltype(&::natsOptions_SetUserInfo) set_user = nullptr;
  decltype(&::natsOptions_SetToken) set_token = nullptr;
  decltype(&::natsOptions_SetSecure) set_secure = nullptr;
  decltype(&::natsOptions_SetName) set_name = nullptr;
  decltype(&::natsOptions_SetTimeout) set_timeout = nullptr;
  decltype(&::natsOptions_SetMaxReconnect) set_max_reconnect = nullptr;
  decltype(&::natsOptions_SetReconnectWait) set_reconnect_wait = nullptr;
  decltype(&::natsOptions_SetPingInterval) set_ping_interval = nullptr;
  decltype(&::natsOptions_SetMaxPingsOut) set_max_pings_out = nullptr;
  decltype(&::natsOptions_SetMaxPendingMsgs) set_max_pending = nullptr;
  decltype(&::natsOptions_SetSendAsap) set_send_asap = nullptr;
  decltype(&::natsOptions_SetNoEcho) set_no_echo = nullptr;
  decltype(&::natsOptions_UseGlobalMessageDelivery) use_global_delivery = nullptr;
  decltype(&::natsOptions_SetRetryOnFailedConnect) set_retry_on_failed_connect = nullptr;
  decltype(&::natsOptions_SetDisconnectedCB) on_disconnected = nullptr;
  decltype(&::natsOptions_SetReconnectedCB) on_reconnected = nullptr;
  decltype(&::natsOptions_SetClosedCB) on_closed = nullptr;
  decltype(&::natsOptions_SetErrorHandler) on_error = nullptr;
  decltype(&::nats_SetMessageDeliveryPoolSize) set_delivery_pool_size = nullptr;
  decltype(&::nats_GetLastError) last_error = nullptr;
  decltype(&::natsStatus_GetText) status_text = nullptr;
  decltype(&::natsConnection_Connect) connect = nullptr;
  decltype(&::natsConnection_Destroy) destroy = nullptr;
  decltype(&::natsConnection_Publish) publish = nullptr;
  decltype(&::natsConnection_Subscribe) subscribe = nullptr;
  decltype(&::natsConnection_FlushTimeout) flush = nullptr;
  decltype(&::natsSubscription_Destroy) subscription_destroy = nullptr;
  decltype(&::natsMsg_GetSubject) subject = nullptr;
  decltype(&::natsMsg_GetData) data = nullptr;
  decltype(&::natsMsg_GetDataLength) data_length = nullptr;
  decltype(&::natsMsg_Destroy) message_destroy = nullptr;
  std::string problem;  ///< why the library cannot be used, and the remedy; empty if it can be used

  /// Loads the library at the first call. May block. Thread-safe.
  static const Nats& get();
};

}  // namespace agw
