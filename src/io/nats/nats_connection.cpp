#include "io/nats/nats_connection.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "io/nats/libnats.hpp"

namespace agw {

namespace {

constexpr int connect_timeout_ms = 2'000;
constexpr int reconnect_wait = 200;   // ms
constexpr int ping_interval = 2'000;  // ms
constexpr int max_unanswered_pings = 2;
constexpr int max_pending_messages = 1'000'000;

struct DestroyOptions {
  void operator()(natsOptions* options) const { Nats::get().options_destroy(options); }
};
using NatsOptions = std::unique_ptr<natsOptions, DestroyOptions>;

static_assert(NatsConnection::max_payload <= NatsConnection::max_waiting);

/// Blocks all signals in the threads started by libnats, as in all threads except the first.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

void require(natsStatus status) {
  if (status != NATS_OK) throw std::runtime_error(fmt::format("NATS: {}", Nats::get().status_text(status)));
}

NatsOptions usual_options(const NatsAddress& address, const std::string& name) {
  const auto& nats = Nats::get();
  natsOptions* made = nullptr;
  require(nats.options_create(&made));
  NatsOptions options(made);
  std::vector<const char*> servers;
  servers.reserve(address.servers.size());
  for (const auto& server : address.servers) servers.push_back(server.c_str());
  require(nats.set_servers(made, servers.data(), static_cast<int>(servers.size())));
  if (!address.user.empty()) require(nats.set_user(made, address.user.c_str(), address.password.c_str()));
  if (!address.token.empty()) require(nats.set_token(made, address.token.c_str()));
  if (address.is_encrypted) require(nats.set_secure(made, true));
  require(nats.set_name(made, name.c_str()));
  require(nats.set_timeout(made, connect_timeout_ms));
  require(nats.set_max_reconnect(made, -1));
  require(nats.set_reconnect_wait(made, reconnect_wait));
  require(nats.set_ping_interval(made, ping_interval));
  require(nats.set_max_pings_out(made, max_unanswered_pings));
  require(nats.set_max_pending(made, max_pending_messages));
  require(nats.set_send_asap(made, true));
  require(nats.set_no_echo(made, true));
  require(nats.use_global_delivery(made, true));
  return options;
}

/// The reason why retrying cannot help, and the remedy; empty if the server is just not reachable.
std::string refusal(natsStatus status, const NatsAddress& address) {
  switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
      return address.user.empty() && address.token.empty()
                 ? "wants a user and a password: add them, as in nats://user:${secret:NATS}@host:4222"
                 : "refuses the user, the password or the token: correct them";
    case NATS_SECURE_CONNECTION_WANTED:
      return "offers no encrypted connection: give it a certificate";
    case NATS_SSL_ERROR:
      return "has a certificate that is not trusted: have SSL_CERT_FILE name the authority that issued it, or correct "
             "the host's name";
    default:
      return {};
  }
}

void refuse_if_hopeless(natsStatus status, const NatsAddress& address, const std::string& key) {
  const auto why = refusal(status, address);
  if (!why.empty())
    throw StartError(ExitStatus::failure, fmt::format("the NATS server at {} ({}) {}.", address.name, key, why));
}

std::string unreachable(const NatsAddress& address, const std::string& key, natsStatus status) {
  return fmt::format("cannot reach the NATS server at {} ({}): {}. Start the server, or correct {}", address.name, key,
                     Nats::get().status_text(status), key);
}

}  // namespace

/// State used by libnats' threads. Never destroyed, because they may still use it after the connection has ended.
struct NatsConnection::Calls {
  Calls(Loop& loop_of_calls, const Options& options)
      : loop(loop_of_calls),
        on_message(options.on_message),
        on_change(options.on_change),
        name(options.address.name),
        key(options.key) {}

  template <class Action>
  void post(Action action) {
    const std::lock_guard lock(mutex);
    if (!is_over) asio::post(loop, std::move(action));
  }
  void changed(bool connected) {
    is_connected = connected;
    post([this, connected] {
      if (connected)
        log::info("connected to the NATS server at {}", name);
      else
        log::warn("the NATS server at {} ({}) is lost: events of other nodes come once it is there again", name, key);
      if (!is_over) on_change(connected);
    });
  }

  Loop& loop;
  std::mutex mutex;
  std::atomic<bool> is_over = false;
  std::atomic<bool> is_connected = false;
  std::function<void(std::string, std::string)> on_message;
  std::function<void(bool)> on_change;
  std::string name;
  std::string key;
};

struct NatsConnection::Handles {
  natsConnection* connection = nullptr;
  std::vector<natsSubscription*> subscriptions;
};

NatsConnection::NatsConnection(Loop& loop, Options options)
    : calls_(std::make_shared<Calls>(loop, options)), handles_(std::make_unique<Handles>()) {
  AGW_DEBUG_ASSERT(may_block());
  const auto& nats = Nats::get();
  if (!nats.problem.empty()) throw StartError(ExitStatus::failure, fmt::format("{}: {}", options.key, nats.problem));
  const SignalsBlocked blocked;
  nats.set_delivery_pool_size(1);
  static std::deque<std::shared_ptr<Calls>> kept;
  kept.push_back(calls_);
  auto* const calls = calls_.get();
  const auto made = usual_options(options.address, options.name);
  const auto lost = [](natsConnection*, void* all) { static_cast<Calls*>(all)->changed(false); };
  const auto found = [](natsConnection*, void* all) { static_cast<Calls*>(all)->changed(true); };
  require(nats.on_disconnected(made.get(), lost, calls));
  require(nats.on_reconnected(made.get(), found, calls));
  // Without a handler, libnats prints errors itself.
  require(nats.on_error(made.get(), [](natsConnection*, natsSubscription*, natsStatus, void*) {}, calls));
  auto status = nats.connect(&handles_->connection, made.get());
  calls->is_connected = status == NATS_OK;
  refuse_if_hopeless(status, options.address, options.key);
  if (status != NATS_OK) {
    log::warn("{}. Until then, clients hear of nothing that happens at other nodes",
              unreachable(options.address, options.key, status));
    require(nats.set_retry_on_failed_connect(made.get(), true, found, calls));
    status = nats.connect(&handles_->connection, made.get());
    if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) require(status);
  }
  AGW_DEBUG_ASSERT(handles_->connection);
  for (const auto& subject : options.subjects) subscribe(subject);
  writer_ = std::make_unique<WorkerThread>("agw-nats", [this] { write(); });
}

void NatsConnection::subscribe(const std::string& subject) {
  const auto take = [](natsConnection*, natsSubscription*, natsMsg* message, void* all) {
    const auto& functions = Nats::get();
    std::string from(functions.subject(message));
    std::string payload(functions.data(message), static_cast<std::size_t>(functions.data_length(message)));
    functions.message_destroy(message);
    auto& receiver = *static_cast<Calls*>(all);
    receiver.post([&receiver, from = std::move(from), payload = std::move(payload)]() mutable {
      if (!receiver.is_over) receiver.on_message(std::move(from), std::move(payload));
    });
  };
  require(Nats::get().subscribe(&handles_->subscriptions.emplace_back(), handles_->connection, subject.c_str(), take,
                                calls_.get()));
}

NatsConnection::~NatsConnection() {
  {
    const std::lock_guard lock(calls_->mutex);
    calls_->is_over = true;
  }
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  added_.notify_one();
  writer_.reset();
  const auto& nats = Nats::get();
  for (auto* const subscription : handles_->subscriptions) nats.subscription_destroy(subscription);
  if (handles_->connection) nats.destroy(handles_->connection);
}

bool NatsConnection::is_connected() const { return calls_->is_connected; }

void NatsConnection::publish(std::string subject, std::string payload) {
  {
    const std::lock_guard lock(mutex_);
    if (payload.size() > max_payload || waiting_size_ + payload.size() > max_waiting) return;
    waiting_size_ += payload.size();
    waiting_.push_back({std::move(subject), std::move(payload)});
  }
  added_.notify_one();
}

void NatsConnection::write() {
  const auto& nats = Nats::get();
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    AGW_ASSERT(waiting_size_ <= max_waiting);
    auto messages = std::exchange(waiting_, {});
    waiting_size_ = 0;
    lock.unlock();
    // Receivers detect a message that was not sent, because they count them.
    for (const auto& [subject, payload] : messages)
      nats.publish(handles_->connection, subject.c_str(), payload.data(), static_cast<int>(payload.size()));
    lock.lock();
  }
}

std::chrono::duration<double, std::milli> check_nats(const NatsAddress& address, const std::string& key) {
  AGW_DEBUG_ASSERT(may_block());
  const auto& nats = Nats::get();
  if (!nats.problem.empty()) throw StartError(ExitStatus::failure, fmt::format("{}: {}", key, nats.problem));
  const auto options = usual_options(address, "agw doctor");
  natsConnection* connection = nullptr;
  auto status = nats.connect(&connection, options.get());
  refuse_if_hopeless(status, address, key);
  const auto asked_at = std::chrono::steady_clock::now();
  if (status == NATS_OK) status = nats.flush(connection, connect_timeout_ms);
  const auto answered_at = std::chrono::steady_clock::now();
  if (connection) nats.destroy(connection);
  if (status != NATS_OK) throw StartError(ExitStatus::failure, unreachable(address, key, status) + ".");
  return answered_at - asked_at;
}

}  // namespace agw
