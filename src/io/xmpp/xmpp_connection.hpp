#pragma once

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task.hpp"
#include "io/xmpp/xmpp_address.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

struct XmppShared;

/// Who connects to which XMPP server.
struct XmppLogin {
  std::string account;   ///< `node@domain`
  std::string resource;  ///< whoever connects with the same ends this connection
  std::string password;
  std::optional<XmppServer> server{};  ///< nullopt: the one that DNS names for the domain
  bool may_be_private = false;         ///< the server may have an address that is not public
};

/// Why a connection has ended, or was not made.
struct XmppFailure {
  enum class Kind {
    broken,    ///< it may work later
    refused,   ///< the server does not accept the account or its password
    conflict,  ///< another program has connected with the same account and resource
    closed,    ///< by this side
  };
  Kind kind = Kind::broken;
  std::string text;  ///< for people, without the password
};

/// A client's connection to an XMPP server (RFC 6120, 6121), by libstrophe on its own thread, because names are
/// resolved and TLS begins there in calls that block. TLS with a valid certificate is required, except by a server that
/// is written as a loopback address. Used and notified on the loop.
class XmppConnection : public std::enable_shared_from_this<XmppConnection> {
public:
  class Listener {
  public:
    /// Stanzas can be sent from now on. Nothing was sent yet, not even presence.
    virtual void opened() = 0;
    virtual void arrived(XmppElement element) = 0;
    /// The last call: the connection can be destroyed without waiting.
    virtual void ended(XmppFailure failure) = 0;

  protected:
    ~Listener() = default;
  };

  /// Begins to connect. The listener lives until `ended` or the destruction of the connection.
  static std::shared_ptr<XmppConnection> start(Loop& loop, XmppLogin login, Listener& listener);
  /// Waits for the thread: await `ended` first.
  ~XmppConnection();
  XmppConnection(const XmppConnection&) = delete;
  XmppConnection& operator=(const XmppConnection&) = delete;

  /// Sends complete stanzas; nothing unless it is open.
  void send(std::string stanzas);
  /// Messages, presences and requests that arrived were dealt with. While a thousand were not, the server has to wait.
  void taken(std::size_t stanzas);
  /// Ends the connection politely, or at once while it is being made.
  void close();
  /// Ends it without waiting for the server.
  void abort();

  /// Known when it is open. Whether the server has stream management (XEP-0198).
  bool has_stream_management() const;
  /// Known when it is open. Whether the server's address is not public.
  bool is_private() const;

private:
  explicit XmppConnection(Listener& listener);

  Listener* listener_;
  std::shared_ptr<XmppShared> shared_;
  std::optional<pthread_t> thread_;
};

}  // namespace agw
