#include "features/channels/xmpp/xmpp_requests.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/id.hpp"

namespace agw {

namespace {

constexpr std::chrono::seconds response_timeout{20};

}  // namespace

XmppRequests::XmppRequests(Loop& loop, Send send) : loop_(loop), send_(std::move(send)) {}

Task<std::optional<XmppElement>> XmppRequests::get(std::string to, std::string content, StopSource& stop) {
  const auto id = new_id();
  if (!send_(fmt::format("<iq type='get' id='{}' to='{}'>{}</iq>", id, xml_escaped(to), content)))
    co_return std::nullopt;
  const auto pending = std::make_shared<Pending>(loop_, std::move(to));
  pending_[id] = pending;
  co_await with_timeout(stop, response_timeout, pending->changed.wait());
  pending_.erase(id);
  co_return std::move(pending->response);
}

bool XmppRequests::take(const XmppElement& stanza) {
  const auto type = stanza.attribute("type");
  const auto found = pending_.find(stanza.attribute("id"));
  if ((type != "result" && type != "error") || found == pending_.end()) return false;
  if (stanza.attribute("from") != found->second->to) return false;
  found->second->response = stanza;
  found->second->changed.notify();
  return true;
}

void XmppRequests::end() {
  for (const auto& [id, pending] : pending_) pending->changed.notify();
}

}  // namespace agw
