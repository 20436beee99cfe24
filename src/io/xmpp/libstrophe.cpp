#include "io/xmpp/libstrophe.hpp"

#include "base/async/assert.hpp"
#include "base/dynamic_library.hpp"

namespace agw {

namespace {

Strophe load_strophe() {
  Strophe strophe;
  DynamicLibrary library("libstrophe.so.0", "libstrophe0");
  library.find("xmpp_initialize", strophe.initialize);
  library.find("xmpp_ctx_new", strophe.ctx_new);
  library.find("xmpp_ctx_free", strophe.ctx_free);
  library.find("xmpp_conn_new", strophe.conn_new);
  library.find("xmpp_conn_release", strophe.conn_release);
  library.find("xmpp_conn_set_flags", strophe.conn_set_flags);
  library.find("xmpp_conn_set_jid", strophe.conn_set_jid);
  library.find("xmpp_conn_set_pass", strophe.conn_set_pass);
  library.find("xmpp_conn_set_certfail_handler", strophe.conn_set_certfail_handler);
  library.find("xmpp_conn_set_sockopt_callback", strophe.conn_set_sockopt_callback);
  library.find("xmpp_sockopt_cb_keepalive", strophe.keep_alive);
  library.find("xmpp_connect_client", strophe.connect_client);
  library.find("xmpp_disconnect", strophe.disconnect);
  library.find("xmpp_send_raw", strophe.send_raw);
  library.find("xmpp_run_once", strophe.run_once);
  library.find("xmpp_handler_add", strophe.handler_add);
  library.find("xmpp_stanza_is_text", strophe.stanza_is_text);
  library.find("xmpp_stanza_get_text_ptr", strophe.stanza_text);
  library.find("xmpp_stanza_get_name", strophe.stanza_name);
  library.find("xmpp_stanza_get_children", strophe.stanza_children);
  library.find("xmpp_stanza_get_next", strophe.stanza_next);
  library.find("xmpp_stanza_get_attribute_count", strophe.stanza_attribute_count);
  library.find("xmpp_stanza_get_attributes", strophe.stanza_attributes);
  strophe.problem = library.problem();
  if (strophe.problem.empty()) strophe.initialize();
  return strophe;
}

}  // namespace

const Strophe& Strophe::get() {
  AGW_DEBUG_ASSERT(may_block());
  static const Strophe loaded = load_strophe();
  return loaded;
}

}  // namespace agw
