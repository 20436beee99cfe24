#pragma once

#include <strophe.h>

#include <string>

namespace agw {

/// libstrophe's functions, loaded at run time. Include this in sources of io/xmpp only.
struct Strophe {
  decltype(&::xmpp_initialize) initialize = nullptr;
  decltype(&::xmpp_ctx_new) ctx_new = nullptr;
  decltype(&::xmpp_ctx_free) ctx_free = nullptr;
  decltype(&::xmpp_conn_new) conn_new = nullptr;
  decltype(&::xmpp_conn_release) conn_release = nullptr;
  decltype(&::xmpp_conn_set_flags) conn_set_flags = nullptr;
  decltype(&::xmpp_conn_set_jid) conn_set_jid = nullptr;
  decltype(&::xmpp_conn_set_pass) conn_set_pass = nullptr;
  decltype(&::xmpp_conn_set_certfail_handler) conn_set_certfail_handler = nullptr;
  decltype(&::xmpp_conn_set_sockopt_callback) conn_set_sockopt_callback = nullptr;
  decltype(&::xmpp_sockopt_cb_keepalive) keep_alive = nullptr;
  decltype(&::xmpp_connect_client) connect_client = nullptr;
  decltype(&::xmpp_disconnect) disconnect = nullptr;
  decltype(&::xmpp_send_raw) send_raw = nullptr;
  decltype(&::xmpp_run_once) run_once = nullptr;
  decltype(&::xmpp_handler_add) handler_add = nullptr;
  decltype(&::xmpp_stanza_is_text) stanza_is_text = nullptr;
  decltype(&::xmpp_stanza_get_text_ptr) stanza_text = nullptr;
  decltype(&::xmpp_stanza_get_name) stanza_name = nullptr;
  decltype(&::xmpp_stanza_get_children) stanza_children = nullptr;
  decltype(&::xmpp_stanza_get_next) stanza_next = nullptr;
  decltype(&::xmpp_stanza_get_attribute_count) stanza_attribute_count = nullptr;
  decltype(&::xmpp_stanza_get_attributes) stanza_attributes = nullptr;
  std::string problem;  ///< why the library cannot be used, and the remedy; empty if it can be used

  /// Loads the library at the first call. May block. Thread-safe.
  static const Strophe& get();
};

}  // namespace agw
