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

/// Uploads files to the account's server (XEP-0363), where anyone who has a file's address can read it. Used on the
/// loop.
class XmppUpload {
public:
  /// Whether the server may return this URL although it has a private address.
  using MayBePrivate = std::function<bool(const WebUrl& url)>;
  XmppUpload(HttpClient& http, XmppRequests& requests, std::string domain, MayBePrivate may_be_private);

  /// The address of the uploaded file; if empty, the problem.
  struct Uploaded {
    std::string url{};
    SendResult problem{};
  };
  Task<Uploaded> upload(OutgoingFile file, StopSource& stop);
  /// Must be called when the connection has ended: the next server may be configured differently.
  void forget_service() { service_.clear(); }

private:
  Task<std::optional<std::string>> find_service(StopSource& stop);

  HttpClient& http_;
  XmppRequests& requests_;
  std::string domain_;
  MayBePrivate may_be_private_;
  std::string service_;  ///< the address that accepts files; empty if unknown
};

/// The addresses for uploading a file and for reading it.
struct XmppSlot {
  WebUrl put;
  std::string get;
  std::vector<HttpHeader> headers{};  ///< for the PUT; only `Authorization`, `Cookie` and `Expires`
};

/// The slot in the response to a request for one; nullopt if it has none.
/// Example: src/features/channels/xmpp/xmpp_upload_test.cpp: XmppUpload.ReadsASlot
std::optional<XmppSlot> xmpp_slot(const XmppElement& response);

}  // namespace agw
