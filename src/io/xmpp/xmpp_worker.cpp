// The thread of a connection to an XMPP server.
//
// libstrophe waits with select(), and only for the socket. This thread waits itself, for the socket and for the loop,
// and then calls xmpp_run_once without a timeout. Each call sends queued data and reads at most 4 KiB; OpenSSL may hold
// 16 KiB of a record that poll() does not report, so a few calls follow each other.
//
// Data from the server is trusted only for the identity of senders. libstrophe has no limits, so after each call the
// thread checks how much was received since the last complete stanza. That bounds the memory and, because libstrophe
// uses recursion, the stack. Entities of a document type can expand a few bytes to a long text; memory for such a text
// is refused.

#include "io/xmpp/xmpp_worker.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include "base/async/assert.hpp"
#include "io/http/public_address.hpp"
#include "io/xmpp/shared_roots.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto max_connecting = 60s;
/// The maximum size of a stanza. Servers allow their own clients 256 KiB (Prosody) or less.
constexpr std::uint64_t max_stanza = 512 * 1024;
/// The maximum size of a text. For a text made of entities, libstrophe's time grows with the square of its size.
constexpr std::size_t max_text = 256 * 1024;
static_assert(max_text <= max_stanza);
/// No stanza used here is deeper.
constexpr int max_stanza_depth = 16;
constexpr int max_runs_in_a_row = 6;
/// libstrophe does not report how much is unsent, so after sending the thread retries at this interval, for this long.
constexpr auto busy_poll_interval = 20ms;
constexpr auto busy_after_sending = 5s;

/// Linux's data about a connection (linux/tcp.h); libc's header lacks the counters.
struct LinuxTcpInfo {
  tcp_info known;
  std::uint64_t pacing_rate;
  std::uint64_t max_pacing_rate;
  std::uint64_t bytes_acked;
  std::uint64_t bytes_received;
};
static_assert(sizeof(tcp_info) == 104);

/// For libstrophe callbacks without a user pointer. Each connection has its own thread.
thread_local XmppWorker* current_worker = nullptr;

/// Protects libstrophe's global initialisation: it stores its first context in a variable.
std::mutex& strophe_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::optional<boost::asio::ip::address> peer_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  if (storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
    return boost::asio::ip::address_v4(ntohl(address.sin_addr.s_addr));
  }
  const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
  boost::asio::ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), &address.sin6_addr, bytes.size());
  return boost::asio::ip::address_v6(bytes);
}

}  // namespace

const xmpp_mem_t XmppWorker::limited_memory{.alloc = [](std::size_t size, void*) noexcept { return std::malloc(size); },
                                            .free = [](void* memory, void*) noexcept { std::free(memory); },
                                            .realloc = on_growth,
                                            .userdata = nullptr};

XmppWorker::XmppWorker(XmppShared& shared, XmppLogin login, Events events)
    : shared_(shared),
      login_(std::move(login)),
      events_(std::move(events)),
      strophe_(Strophe::get()),
      log_{.handler = on_log, .userdata = this} {}

XmppFailure XmppWorker::run() {
  AGW_ASSERT(!current_worker);
  AGW_ASSERT(!has_ended_);
  if (!strophe_.problem.empty()) return {.text = strophe_.problem};
  current_worker = this;
  share_trusted_roots();
  {
    const std::lock_guard guard(strophe_mutex());
    context_ = strophe_.ctx_new(&limited_memory, &log_);
    connection_ = strophe_.conn_new(context_);
  }
  connect();
  while (!has_ended_) step();
  // Ends the socket first: otherwise the release would wait until the server has received the remaining data.
  take_socket(-1);
  strophe_.conn_release(connection_);
  strophe_.ctx_free(context_);
  current_worker = nullptr;
  return failure_;
}

void XmppWorker::connect() {
  const auto& server = login_.server;
  const auto host = server ? server->host : std::string(xmpp_domain(login_.account));
  long flags = XMPP_CONN_FLAG_DISABLE_SM | (is_loopback_host(host) ? XMPP_CONN_FLAG_TRUST_TLS : 0);
  if (!is_loopback_host(host)) flags |= XMPP_CONN_FLAG_MANDATORY_TLS;
  if (server && server->is_direct_tls) flags |= XMPP_CONN_FLAG_LEGACY_SSL;
  strophe_.conn_set_flags(connection_, flags);
  strophe_.conn_set_jid(connection_, fmt::format("{}/{}", login_.account, login_.resource).c_str());
  strophe_.conn_set_pass(connection_, login_.password.c_str());
  strophe_.conn_set_certfail_handler(connection_, on_certificate);
  strophe_.conn_set_sockopt_callback(connection_, on_socket);
  const bool is_named = server || is_loopback_host(host);
  const bool is_begun = strophe_.connect_client(connection_, is_named ? host.c_str() : nullptr,
                                                server ? server->port : 0, on_event, this) == XMPP_EOK;
  if (!is_begun) fail(last_error_.empty() ? fmt::format("no server can be found for {}", host) : last_error_);
}

void XmppWorker::step() {
  AGW_ASSERT(current_worker == this);
  send_queued();
  const int runs = !is_full() ? max_runs_in_a_row : has_sent_ ? 1 : 0;
  int socket = -1;
  {
    const std::lock_guard guard(shared_.mutex);
    socket = shared_.socket.get();
  }
  std::array<pollfd, 2> awaited{pollfd{.fd = shared_.wake.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = is_full() ? -1 : socket, .events = POLLIN, .revents = 0}};
  if (!has_sent_) ::poll(awaited.data(), awaited.size(), wait_time());
  eventfd_t count = 0;
  ::eventfd_read(shared_.wake.get(), &count);
  has_sent_ = false;
  for (int i = 0; i < runs && !has_ended_; ++i) {
    strophe_.run_once(context_, 0);
    if (!is_address_checked_) check_address();
    check_size();
  }
  if (!is_open_ && !has_ended_ && Clock::now() - begun_ > max_connecting) fail("the server did not answer in time");
}

void XmppWorker::send_queued() {
  std::string outgoing;
  bool is_closing = false;
  {
    const std::lock_guard guard(shared_.mutex);
    outgoing.swap(shared_.outgoing);
    is_closing = shared_.is_closing;
  }
  if (!outgoing.empty() && is_open_) {
    strophe_.send_raw(connection_, outgoing.data(), outgoing.size());
    last_sent_ = Clock::now();
    has_sent_ = true;
  }
  if (!is_closing || is_closing_ || has_ended_) return;
  is_closing_ = true;
  if (!is_open_) return fail("closed", XmppFailure::Kind::closed);
  strophe_.disconnect(connection_);
  has_sent_ = true;
}

bool XmppWorker::is_full() const { return shared_.waiting >= XmppShared::max_waiting && !is_closing_; }

int XmppWorker::wait_time() const {
  const bool is_busy = !is_open_ || is_closing_ || Clock::now() - last_sent_ < busy_after_sending;
  return is_busy ? static_cast<int>(busy_poll_interval.count()) : -1;
}

/// Checks the address before anything is sent to the server.
void XmppWorker::check_address() {
  const std::unique_lock guard(shared_.mutex);
  const auto address = shared_.socket ? peer_of(shared_.socket.get()) : std::nullopt;
  if (!address) return;
  is_address_checked_ = true;
  shared_.is_private = !is_public_address(*address);
  if (is_metadata_address(*address) || (shared_.is_private && !login_.may_be_private)) {
    ::shutdown(shared_.socket.get(), SHUT_RDWR);
    fail(fmt::format("the server has the address {}, which is not public", address->to_string()));
  }
}

void XmppWorker::check_size() {
  if (has_ended_ || received_bytes() - bytes_before_ <= max_stanza) return;
  fail(fmt::format("the server sent a stanza of more than {} KiB", max_stanza / 1024));
}

/// The number of bytes received from the network.
std::uint64_t XmppWorker::received_bytes() const {
  const std::lock_guard guard(shared_.mutex);
  LinuxTcpInfo info{};
  socklen_t size = sizeof info;
  int unread = 0;
  if (!shared_.socket || ::getsockopt(shared_.socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  ::ioctl(shared_.socket.get(), FIONREAD, &unread);
  return info.bytes_received - std::min<std::uint64_t>(static_cast<std::uint64_t>(unread), info.bytes_received);
}

void XmppWorker::fail(std::string text, XmppFailure::Kind kind) {
  if (has_ended_) return;
  has_ended_ = true;
  AGW_ASSERT(!text.empty());
  failure_ = {.kind = kind, .text = std::move(text)};
}

/// Replaces the socket and shuts down the previous one.
void XmppWorker::take_socket(int socket) {
  const std::lock_guard guard(shared_.mutex);
  if (shared_.socket) ::shutdown(shared_.socket.get(), SHUT_RDWR);
  shared_.socket = Descriptor();
  if (socket < 0) return;
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  shared_.socket = Descriptor(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (shared_.is_closing) ::shutdown(socket, SHUT_RDWR);
}

// Callbacks of libstrophe.

void XmppWorker::changed(xmpp_conn_event_t event, const xmpp_stream_error_t* error) {
  if (event == XMPP_CONN_CONNECT) {
    is_open_ = true;
    strophe_.handler_add(connection_, on_stanza, nullptr, nullptr, nullptr, this);
    bytes_before_ = received_bytes();
    events_.opened();
  } else if (event == XMPP_CONN_DISCONNECT || event == XMPP_CONN_FAIL) {
    auto failure = failure_of(error);
    fail(std::move(failure.text), failure.kind);
  }
}

XmppFailure XmppWorker::failure_of(const xmpp_stream_error_t* error) const {
  using Kind = XmppFailure::Kind;
  if (is_closing_) return {.kind = Kind::closed, .text = "closed"};
  if (error && error->type == XMPP_SE_CONFLICT)
    return {.kind = Kind::conflict, .text = "replaced by another connection"};
  const std::string said = error && error->text ? fmt::format("the server says: {}", error->text) : std::string();
  if (is_open_) return {.text = said.empty() ? "the connection was lost" : said};
  if (!certificate_error_.empty())
    return {.text = fmt::format("the server's certificate is not valid: {}", certificate_error_)};
  if (!login_error_.empty()) return {.kind = is_refused_ ? Kind::refused : Kind::broken, .text = login_error_};
  if (connect_error_ != 0) return {.text = std::generic_category().message(connect_error_)};
  if (!said.empty()) return {.text = said};
  return {.text = last_error_.empty() ? "the server did not let it connect" : last_error_};
}

void XmppWorker::arrived(xmpp_stanza_t* stanza) {
  bytes_before_ = received_bytes();
  auto element = element_of(stanza, 0);
  if (element.xmlns == XMPP_NS_CLIENT) ++shared_.waiting;
  events_.arrived(std::move(element));
}

XmppElement XmppWorker::element_of(xmpp_stanza_t* stanza, int depth) const {
  AGW_ASSERT(depth <= max_stanza_depth);
  XmppElement element;
  if (const char* name = strophe_.stanza_name(stanza)) element.name = name;
  std::vector<const char*> attributes(static_cast<std::size_t>(strophe_.stanza_attribute_count(stanza)) * 2);
  strophe_.stanza_attributes(stanza, attributes.data(), static_cast<int>(attributes.size()));
  for (std::size_t i = 0; i + 1 < attributes.size(); i += 2) {
    if (std::string_view(attributes[i]) == "xmlns")
      element.xmlns = attributes[i + 1];
    else
      element.attributes.emplace_back(attributes[i], attributes[i + 1]);
  }
  for (auto* child = strophe_.stanza_children(stanza); child; child = strophe_.stanza_next(child)) {
    if (strophe_.stanza_is_text(child))
      element.text += strophe_.stanza_text(child);
    else if (depth < max_stanza_depth)
      element.children.push_back(element_of(child, depth + 1));
  }
  return element;
}

/// Evaluates the log, where libstrophe reports some events only.
void XmppWorker::note(xmpp_log_level_t level, std::string_view text) {
  constexpr std::string_view received = "RECV: <";
  constexpr std::string_view not_connected = "connection failed, error ";
  if (text.starts_with("parse error")) return fail("the server sent what is no XML of a stream");
  if (is_open_) return;
  if (text.starts_with(not_connected)) {
    text.remove_prefix(not_connected.size());
    std::from_chars(text.data(), text.data() + text.size(), connect_error_);
  } else if (text.starts_with(received)) {
    text.remove_prefix(received.size());
    if (text.starts_with("failure")) {
      is_refused_ = text.find("temporary-auth-failure") == text.npos;
      login_error_ = is_refused_ ? "the account does not exist, or the password is wrong"
                                 : "the server cannot check the password now";
    } else if (text.starts_with("success")) {
      login_error_.clear();
    }
    if (text.starts_with("features")) shared_.has_stream_management = text.find(XMPP_NS_SM) != text.npos;
  } else if (level == XMPP_LEVEL_ERROR) {
    last_error_ = text;
  }
}

void XmppWorker::on_log(void* self, xmpp_log_level_t level, const char*, const char* text) noexcept {
  static_cast<XmppWorker*>(self)->note(level, text);
}

/// libstrophe grows a text with each piece. If there is no memory, it drops the text and starts over.
void* XmppWorker::on_growth(void* memory, std::size_t size, void*) noexcept {
  AGW_ASSERT(current_worker);
  auto& worker = *current_worker;
  if (size > max_text) {
    worker.has_long_text_ = true;
    worker.fail(fmt::format("the server sent a text of more than {} KiB", max_text / 1024));
  }
  if (worker.has_long_text_) return nullptr;
  return size <= ::malloc_usable_size(memory) ? memory : std::realloc(memory, std::bit_ceil(size));
}

void XmppWorker::on_event(xmpp_conn_t*, xmpp_conn_event_t event, int, xmpp_stream_error_t* stream_error,
                          void* self) noexcept {
  static_cast<XmppWorker*>(self)->changed(event, stream_error);
}

int XmppWorker::on_stanza(xmpp_conn_t*, xmpp_stanza_t* stanza, void* self) noexcept {
  static_cast<XmppWorker*>(self)->arrived(stanza);
  return 1;
}

/// Rejects a socket with a high number: select() would write beyond its set.
int XmppWorker::on_socket(xmpp_conn_t* connection, void* socket) noexcept {
  AGW_ASSERT(current_worker);
  auto& worker = *current_worker;
  const int number = *static_cast<int*>(socket);
  if (number >= FD_SETSIZE) {
    worker.last_error_ = "too many connections are open: libstrophe cannot use more";
    return -1;
  }
  worker.take_socket(number);
  worker.strophe_.keep_alive(connection, socket);
  return 0;
}

int XmppWorker::on_certificate(const xmpp_tlscert_t*, const char* error) noexcept {
  current_worker->certificate_error_ = error;
  return 0;
}

}  // namespace agw
