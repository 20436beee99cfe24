#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/channels/messenger.hpp"
#include "features/channels/xmpp/xmpp_requests.hpp"
#include "io/http/http_client.hpp"
#include "io/http/web_url.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// Uploads files to the account's server (XEP-0363), where everyone who has a file's address can read it. On the loop.
class XmppUpload {
public:
  /// Whether the server may name this URL although it leads to a private address.
  using MayBePrivate = std::function<bool(const WebUrl& url)>;
  XmppUpload(HttpClient& http, XmppRequests& requests, std::string domain, MayBePrivate may_be_private);

  /// Where the file is now, or why it is nowhere: `url` is empty then.
  struct Uploaded {
    std::string url{};
    SendResult problem{};
  };
  Task<Uploaded> upload(OutgoingFile file, StopSource& stop);
  /// The connection has ended: the next one may be to a server that is configured differently.
  void forget_service() { service_.clear(); }

private:
  Task<std::optional<std::string>> find_service(StopSource& stop);

  HttpClient& http_;
  XmppRequests& requests_;
  std::string domain_;
  MayBePrivate may_be_private_;
  std::string service_;  ///< the address that accepts files; empty: not known
};

/// Where to put a file, and where it can be read then.
struct XmppSlot {
  WebUrl put;
  std::string get;
  std::vector<HttpHeader> headers{};  ///< of the PUT: `Authorization`, `Cookie` and `Expires` only
};

/// The slot in the response to a request for one; nullopt if it has none.
/// Example: src/features/channels/xmpp/xmpp_upload_test.cpp: XmppUpload.ReadsASlot
std::optional<XmppSlot> xmpp_slot(const XmppElement& response);

}  // namespace agw
