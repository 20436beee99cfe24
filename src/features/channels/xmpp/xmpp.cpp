// The messenger for an XMPP account, over one connection (io/xmpp).
//
// *Stanzas* are the elements that server and client exchange. With *stream management* (XEP-0198) each side confirms
// how many stanzas it has stored, and the server delivers the others again after a reconnection.
//
// The invariant: a message is confirmed to the server only after the channel has stored it. `received_` holds
// unconfirmed messages; `next_batch` returns the first of them with a new cursor, and only a `read` from this cursor
// confirms and removes them (`confirm_delivered`). Other stanzas are confirmed immediately. `connection_->taken` counts
// handled stanzas, which slows down a server that sends faster than the channel stores.
//
// Sending: the message, followed by a ping. A server handles stanzas in order, so its response to the ping confirms the
// message: `sent`. After an error with the message's id, the result is `refused`. If neither arrives within a minute,
// or the connection ends, the result is `uncertain`, and the connection is re-established.
//
// `read` connects if there is no connection. The reason for the end of a connection (`failure_`) is the result of the
// next `read`. If another program has connected with our resource, reconnecting waits half a minute, so that the two do
// not disconnect each other constantly.
//
// After a kill, the server delivers unconfirmed messages again, and the inbox recognises the ids of handled ones.
// Without stream management, the server considers them delivered: messages that were not stored are lost.

#include "features/channels/xmpp/xmpp.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/attachments/service.hpp"
#include "features/channels/xmpp/xmpp_message.hpp"
#include "io/http/web_request.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using End = SendResult::End;

/// Constant, so that the server closes the connection of a killed gateway when the next one connects.
constexpr std::string_view own_resource = "agent-gateway";
constexpr std::string_view stream_management = "urn:xmpp:sm:3";
constexpr std::string_view ping_prefix = "sent-";
constexpr auto connect_timeout = 90s;
constexpr auto send_timeout = 60s;
constexpr auto close_timeout = 3s;
constexpr auto pause_after_conflict = 30s;
constexpr std::chrono::seconds min_pause_before_entering = 1s;
constexpr std::chrono::seconds max_pause_before_entering = 60s;
/// Clients forget the state after a while.
constexpr auto composing_interval = 30s;
/// In larger rooms it would only cost traffic (XEP-0085, section 5.5).
constexpr std::size_t max_people_for_typing = 20;
constexpr std::size_t max_batch = 100;

std::string ping_after(std::string_view message_id) {
  return fmt::format("<iq type='get' id='{}{}'><ping xmlns='urn:xmpp:ping'/></iq>", ping_prefix, message_id);
}

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host.substr(0, host.size() - domain.size()).ends_with('.'));
}

std::string media_type(const HttpHead& head) {
  const auto type = head.header("content-type").value_or("");
  return std::string(type.substr(0, type.find(';')));
}

}  // namespace

Xmpp::Xmpp(Loop& loop, HttpClient& http, const ChannelAccount& account, const ChannelSettings& settings)
    : loop_(loop),
      http_(http),
      account_(account),
      settings_(settings),
      rooms_(settings.rooms, settings.user),
      requests_(loop,
                [this](std::string stanza) {
                  if (is_open_) connection_->send(std::move(stanza));
                  return is_open_;
                }),
      upload_(http, requests_, std::string(xmpp_domain(settings.user)),
              [this](const WebUrl& url) { return may_be_private(url); }),
      changed_(loop),
      open_(loop) {}

const Messenger::Traits& Xmpp::traits() const {
  // Servers accept stanzas of 64 KiB and more, and throttle clients that send a lot.
  static const Traits traits{.max_units = 8000, .between_messages = 1s, .between_in_group = 1s, .per_second = 10};
  return traits;
}

// Reading.

Task<> Xmpp::wait(StopSource& stop, std::chrono::milliseconds limit) {
  co_await with_timeout(stop, limit, changed_.wait());
  changed_.reset();
}

Task<ReceivedBatch> Xmpp::read(std::string cursor, StopSource& stop) {
  if (!connection_) co_return co_await connect(std::move(cursor), stop);
  if (delivered_ > 0 && cursor == delivered_cursor_) confirm_delivered();
  while (received_.empty() && !failure_ && !stop.requested()) co_await wait(stop, enter_rooms_again());
  if (stop.requested()) co_return ReceivedBatch{.end = ReceivedBatch::End::stopped};
  co_return received_.empty() ? problem() : next_batch();
}

/// A room also ends the stay of its people when its server restarts.
std::chrono::milliseconds Xmpp::enter_rooms_again() {
  if (!is_open_ || !rooms_.is_outside()) return no_limit;
  const auto now = std::chrono::steady_clock::now();
  if (enter_rooms_at_ <= now) {
    connection_->send(rooms_.enter_again());
    pause_before_entering_ = std::min(2 * pause_before_entering_, max_pause_before_entering);
    enter_rooms_at_ = now + pause_before_entering_;
  }
  return std::chrono::ceil<std::chrono::milliseconds>(enter_rooms_at_ - now);
}

void Xmpp::plan_to_enter_rooms() {
  pause_before_entering_ = min_pause_before_entering;
  enter_rooms_at_ = std::chrono::steady_clock::now() + pause_before_entering_;
  changed_.notify();
}

Task<ReceivedBatch> Xmpp::connect(std::string cursor, StopSource& stop) {
  AGW_ASSERT(!is_open_);
  AGW_ASSERT(received_.empty());
  AGW_ASSERT(delivered_ == 0);
  failure_.reset();
  connection_ = XmppConnection::start(loop_, login(), *this);
  const auto deadline = std::chrono::steady_clock::now() + connect_timeout;
  while (!is_open_ && !failure_ && !stop.requested()) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= 0s) connection_->abort();
    co_await wait(stop, left > 0s ? std::chrono::ceil<std::chrono::milliseconds>(left) : no_limit);
  }
  if (stop.requested()) co_return ReceivedBatch{.end = ReceivedBatch::End::stopped};
  // The connection may have opened, received messages and ended before this resumed.
  if (!is_open_) co_return received_.empty() ? problem() : next_batch();
  // Messages from before the channel existed are also answered: the server stored them for the account, and delivers
  // them only once.
  co_return ReceivedBatch{.end = ReceivedBatch::End::read, .cursor = cursor.empty() ? new_id() : std::move(cursor)};
}

XmppLogin Xmpp::login() const {
  return {.account = settings_.user,
          .resource = std::string(own_resource),
          .password = account_.token,
          .server = parse_xmpp_server(account_.address),
          .may_be_private = account_.is_persons};
}

ReceivedBatch Xmpp::next_batch() {
  AGW_ASSERT(!received_.empty());
  delivered_ = std::min(received_.size(), max_batch);
  delivered_cursor_ = new_id();
  ReceivedBatch batch{.end = ReceivedBatch::End::read, .cursor = delivered_cursor_};
  for (std::size_t i = 0; i < delivered_; ++i) batch.messages.push_back(received_[i].message);
  return batch;
}

/// The reason why the connection ended. The next `read` connects again.
ReceivedBatch Xmpp::problem() {
  using Kind = XmppFailure::Kind;
  AGW_ASSERT(failure_);
  AGW_ASSERT(received_.empty());
  connection_.reset();
  const auto kind = failure_->kind;
  return {.end = kind == Kind::refused    ? ReceivedBatch::End::refused
                 : kind == Kind::conflict ? ReceivedBatch::End::conflict
                                          : ReceivedBatch::End::retry,
          .error = account_.secrets.hidden_in(failure_->text),
          // Prevents two programs from constantly ending each other's connections.
          .retry_after = kind == Kind::conflict ? std::chrono::milliseconds(pause_after_conflict) : 0ms};
}

/// Confirms the last batch to the server, because the channel has stored it.
void Xmpp::confirm_delivered() {
  AGW_ASSERT(connection_);
  AGW_ASSERT(delivered_ > 0);
  AGW_ASSERT(delivered_ <= received_.size());
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(delivered_));
  connection_->taken(std::exchange(delivered_, 0));
  if (is_managed_) connection_->send(confirmation());
}

std::string Xmpp::confirmation() const {
  const auto stored = received_.empty() ? stanzas_ : received_.front().stanza - 1;
  return fmt::format("<a xmlns='{}' h='{}'/>", stream_management, stored);
}

Task<> Xmpp::close() {
  if (!connection_) co_return;
  StopSource never;
  connection_->close();
  const auto deadline = std::chrono::steady_clock::now() + close_timeout;
  while (!failure_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= 0s) connection_->abort();
    co_await wait(never, left > 0s ? std::chrono::ceil<std::chrono::milliseconds>(left) : no_limit);
  }
  connection_.reset();
}

// Callbacks of the connection.

void Xmpp::opened() {
  is_open_ = true;
  open_.notify();
  if (connection_->has_stream_management()) connection_->send(fmt::format("<enable xmlns='{}'/>", stream_management));
  connection_->send("<presence/>" + rooms_.enter());
  plan_to_enter_rooms();
}

void Xmpp::ended(XmppFailure failure) {
  is_open_ = false;
  open_.reset();
  is_managed_ = false;
  failure_ = std::move(failure);
  const auto sendings = std::exchange(sendings_, {});
  for (const auto& [id, sending] : sendings) {
    sending->result = SendResult{.end = End::uncertain, .error = failure_->text};
    sending->changed.notify();
  }
  requests_.end();
  upload_.forget_service();
  changed_.notify();
}

void Xmpp::arrived(XmppElement element) {
  if (element.xmlns == stream_management) return manage_stream(element);
  if (element.xmlns != "jabber:client") return;
  ++stanzas_;
  if (element.name == "message") return handle_message(element);
  if (element.name == "presence") handle_presence(element);
  if (element.name == "iq") handle_iq(element);
  connection_->taken(1);
}

void Xmpp::manage_stream(const XmppElement& element) {
  if (element.name == "enabled") {
    is_managed_ = true;
    stanzas_ = 0;
  } else if (element.name == "r" && is_managed_) {
    connection_->send(confirmation());
  }
}

void Xmpp::handle_message(const XmppElement& stanza) {
  std::optional<ReceivedMessage> message;
  if (stanza.attribute("type") == "error") {
    settle(stanza.attribute("id"), {.end = End::refused, .error = xmpp_error(stanza)});
  } else {
    message = xmpp_message(stanza, settings_.user, rooms_, settings_.threads);
    if (is_encrypted(stanza))
      log::warn("the channel {} cannot read an encrypted message: turn encryption off in its chat", settings_.name);
  }
  if (!message) return connection_->taken(1);
  received_.push_back({.message = *std::move(message), .stanza = stanzas_});
  changed_.notify();
}

/// People in `allow` may see the channel's presence; strangers get no response.
void Xmpp::handle_presence(const XmppElement& stanza) {
  const auto sender = xmpp_account(stanza.attribute("from"));
  if (stanza.attribute("type") == "subscribe" && sender && settings_.allow.contains(*sender)) {
    connection_->send(fmt::format("<presence to='{}' type='subscribed'/>", xml_escaped(*sender)));
  }
  const bool was_outside = rooms_.is_outside();
  auto problem = rooms_.learn(stanza);
  if (problem.empty()) return;
  if (problem != room_problem_) log::warn("the channel {} {}", settings_.name, problem);
  room_problem_ = std::move(problem);
  if (!was_outside && rooms_.is_outside()) plan_to_enter_rooms();
}

bool Xmpp::is_from_server(const XmppElement& stanza) const {
  const auto from = stanza.attribute("from");
  return from.empty() || from == xmpp_domain(settings_.user) || without_resource(from) == settings_.user;
}

/// Handles responses to our pings, and the server's pings: any response, even an error, shows that we are alive.
void Xmpp::handle_iq(const XmppElement& stanza) {
  const auto type = stanza.attribute("type");
  const auto id = stanza.attribute("id");
  if (requests_.take(stanza) || !is_from_server(stanza)) return;
  if (type == "result" || type == "error") {
    if (id.starts_with(ping_prefix)) settle(id.substr(ping_prefix.size()), {.end = End::sent});
  } else {
    connection_->send(
        fmt::format("<iq type='error' id='{}'{}><error type='cancel'><service-unavailable "
                    "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>",
                    xml_escaped(id),
                    stanza.attribute("from").empty() ? std::string()
                                                     : fmt::format(" to='{}'", xml_escaped(stanza.attribute("from")))));
  }
}

void Xmpp::settle(std::string_view id, SendResult result) {
  const auto found = sendings_.find(id);
  if (found == sendings_.end()) return;
  const auto sending = found->second;
  sendings_.erase(found);
  result.message = id;
  sending->result = std::move(result);
  sending->changed.notify();
}

// Writing.

Task<SendResult> Xmpp::send(OutgoingMessage message, StopSource& stop) {
  if (!is_open_ && co_await with_timeout(stop, send_timeout, open_.wait()) == WaitResult::stopped)
    co_return SendResult{.end = End::stopped};
  std::string file_url;
  if (is_open_ && !message.files.empty()) {
    auto uploaded = co_await upload_.upload(std::move(message.files.front()), stop);
    if (stop.requested()) co_return SendResult{.end = End::stopped};
    if (is_open_ && uploaded.url.empty()) co_return std::move(uploaded.problem);
    file_url = std::move(uploaded.url);
  }
  if (!is_open_) co_return SendResult{.end = End::retry, .error = "it is not connected"};
  const auto id = message.id;
  const auto sending = std::make_shared<Sending>(loop_);
  sendings_[id] = sending;
  connection_->send(xmpp_stanza(message, file_url) + ping_after(id));
  const auto waited = co_await with_timeout(stop, send_timeout, sending->changed.wait());
  if (sending->result) co_return *std::move(sending->result);
  sendings_.erase(id);
  if (waited == WaitResult::stopped) co_return SendResult{.end = End::stopped};
  if (connection_) connection_->abort();
  co_return SendResult{.end = End::uncertain, .error = "the server did not answer"};
}

Task<SendResult> Xmpp::draft(ChatPlace, std::int64_t, std::string, StopSource&) {
  co_return SendResult{.end = End::refused, .error = "XMPP has no drafts"};
}

Task<std::chrono::milliseconds> Xmpp::show_typing(ChatPlace place, bool is_typing, StopSource&) {
  const bool is_for_many = place.is_group && rooms_.people(place.chat) > max_people_for_typing;
  if (is_open_ && !is_for_many) connection_->send(xmpp_typing(place, is_typing));
  co_return composing_interval;
}

Task<> Xmpp::acknowledge(std::string, std::string, StopSource&) { co_return; }

/// If a person configured a server with a private address, its files may also have private addresses.
bool Xmpp::may_be_private(const WebUrl& url) const {
  const bool is_home = account_.is_persons && connection_ && connection_->is_private();
  return is_home && is_below(url.host(), xmpp_domain(settings_.user));
}

/// The sender chose the address, so it must be public, unless the XMPP server itself has a private one.
Task<FetchedFile> Xmpp::fetch(ReceivedFile file, StopSource& stop) {
  const auto url = WebUrl::parse(file.id);
  if (!url) co_return FetchedFile{{}, "it is not at a web address"};
  auto response =
      co_await send_web_request(http_,
                                {.url = *url,
                                 .max_body_bytes = attachment_limit,
                                 .may_be_private = [this](const WebUrl& one) { return may_be_private(one); }},
                                stop);
  if (!response.problem.empty()) co_return FetchedFile{{}, response.problem};
  if (response.head.status != 200)
    co_return FetchedFile{{}, fmt::format("its server answered {}", response.head.status)};
  co_return FetchedFile{std::move(response.body), {}, media_type(response.head)};
}

}  // namespace agw
