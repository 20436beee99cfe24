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

/// The account and the server to connect to.
struct XmppLogin {
  std::string account;   ///< `node@domain`
  std::string resource;  ///< another connection with the same resource ends this one
  std::string password;
  std::optional<XmppServer> server{};  ///< nullopt: the one that DNS specifies for the domain
  bool may_be_private = false;         ///< the server may have a private address
};

/// Why a connection has ended or could not be made.
struct XmppFailure {
  enum class Kind {
    broken,    ///< a later attempt may succeed
    refused,   ///< the server rejects the account or its password
    conflict,  ///< another program has connected with the same account and resource
    closed,    ///< by this side
  };
  Kind kind = Kind::broken;
  std::string text;  ///< for people, without the password
};

/// A client's connection to an XMPP server (RFC 6120, 6121) with libstrophe. It runs on its own thread, because
/// libstrophe blocks while it resolves names and starts TLS. TLS with a valid certificate is required, except for a
/// server given as a loopback address. Used and notified on the loop.
class XmppConnection : public std::enable_shared_from_this<XmppConnection> {
public:
  class Listener {
  public:
    /// The connection is ready for stanzas. Nothing was sent yet, not even presence.
    virtual void opened() = 0;
    virtual void arrived(XmppElement element) = 0;
    /// The last call. Afterwards the connection can be destroyed without waiting.
    virtual void ended(XmppFailure failure) = 0;

  protected:
    ~Listener() = default;
  };

  /// Starts to connect. The listener must live until `ended` or the destruction of the connection.
  static std::shared_ptr<XmppConnection> start(Loop& loop, XmppLogin login, Listener& listener);
  /// Waits for the thread, so await `ended` first.
  ~XmppConnection();
  XmppConnection(const XmppConnection&) = delete;
  XmppConnection& operator=(const XmppConnection&) = delete;

  /// Sends complete stanzas; ignored unless the connection is open.
  void send(std::string stanzas);
  /// Reports that received stanzas were handled. While a thousand are unhandled, nothing more is read from the server.
  void taken(std::size_t stanzas);
  /// Closes the stream and ends the connection; aborts it if it is still being established.
  void close();
  /// Ends the connection without waiting for the server.
  void abort();

  /// Whether the server supports stream management (XEP-0198). Known once the connection is open.
  bool has_stream_management() const;
  /// Whether the server's address is private. Known once the connection is open.
  bool is_private() const;

private:
  explicit XmppConnection(Listener& listener);

  Listener* listener_;
  std::shared_ptr<XmppShared> shared_;
  std::optional<pthread_t> thread_;
};

}  // namespace agw
