#include "io/process/host_lookups.hpp"

#include <netdb.h>
#include <pthread.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include "io/process/start_thread.hpp"

namespace agw {

namespace {

constexpr std::size_t max_names_at_once = 16;  // of one object
constexpr std::size_t max_threads = 64;
constexpr std::size_t max_threads_for_programs = max_threads - max_names_at_once;
constexpr std::size_t lookup_stack_size = 1 << 20;
// Otherwise the threads for programs would be none, or wrap around.
static_assert(max_names_at_once < max_threads);

}  // namespace

/// Used on the loop only.
struct HostLookups::Lookup {
  explicit Lookup(Loop& loop) : is_done(loop) {}
  AsyncEvent is_done;
  Answer answer;
};

/// The threads of all lookups on a loop. A service of the loop, because threads outlive the objects that started them.
class HostLookups::Threads final : public asio::execution_context::service {
public:
  static inline const asio::execution_context::id id;  ///< identifies the type of the service

  explicit Threads(Loop& loop) : service(loop), mailbox_(std::make_shared<Mailbox>()) { mailbox_->loop = &loop; }

  ~Threads() override { AGW_DEBUG_ASSERT(users_.empty()); }

  void add(HostLookups& user) {
    const bool is_new = users_.insert(&user).second;
    AGW_ASSERT(is_new);
  }
  void remove(HostLookups& user) {
    const auto removed = users_.erase(&user);
    AGW_ASSERT(removed == 1);
  }
  std::size_t running() const { return running_; }

  /// Calls `done` on the loop if that still exists.
  void start(const Ask& ask, const std::string& host, std::function<void(Answer)> done) {
    AGW_ASSERT(ask);
    AGW_ASSERT(done);
    AGW_ASSERT(running_ < max_threads);
    auto work = [this, mailbox = mailbox_, ask, host, done = std::move(done)]() mutable {
      auto answer = ask(host);
      const std::lock_guard lock(mailbox->mutex);
      if (!mailbox->loop) return;
      asio::post(*mailbox->loop, [this, answer = std::move(answer), done = std::move(done)]() mutable {
        AGW_ASSERT(running_ > 0);
        --running_;
        done(std::move(answer));
        for (auto* each : users_) each->any_has_ended_.pulse();
      });
    };
    pthread_detach(start_thread("agw-lookup", std::move(work), lookup_stack_size));
    ++running_;
  }

private:
  /// Delivers answers from the threads to the loop. It is all that a thread refers to, because a thread may outlive the
  /// loop.
  struct Mailbox {
    std::mutex mutex;
    Loop* loop;  ///< null after its destruction has begun
  };

  void shutdown() override {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->loop = nullptr;
  }

  const std::shared_ptr<Mailbox> mailbox_;
  std::size_t running_ = 0;
  std::set<HostLookups*> users_;
};

HostLookups::HostLookups(Loop& loop, Ask ask, For whom)
    : loop_(loop),
      ask_(std::move(ask)),
      max_threads_(whom == For::programs ? max_threads_for_programs : max_threads),
      threads_(asio::use_service<Threads>(loop)),
      self_(std::make_shared<HostLookups*>(this)),
      any_has_ended_(loop) {
  threads_.add(*this);
}

HostLookups::~HostLookups() {
  AGW_ASSERT(checker_.is_current());

  threads_.remove(*this);
  *self_ = nullptr;
}

HostLookups::Answer HostLookups::ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  Answer answer;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found)) {
    answer.problem = ::gai_strerror(error);
    return answer;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  for (const auto* each = found; each; each = each->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    endpoint.resize(each->ai_addrlen);
    answer.addresses.push_back(endpoint.address());
  }
  if (answer.addresses.empty()) answer.problem = "it has no address";
  AGW_ASSERT(answer.addresses.empty() == !answer.problem.empty());
  return answer;
}

Task<HostLookups::Answer> HostLookups::find(std::string host) {
  AGW_ASSERT(checker_.is_current());

  while (!may_begin() && !active_.contains(host)) co_await any_has_ended_.wait();
  const auto known = active_.find(host);
  const auto lookup = known == active_.end() ? begin(host) : known->second;
  AGW_ASSERT(active_.size() <= max_names_at_once);
  co_await lookup->is_done.wait();
  AGW_ASSERT(lookup->is_done.happened());
  co_return lookup->answer;
}

bool HostLookups::may_begin() const { return active_.size() < max_names_at_once && threads_.running() < max_threads_; }

std::shared_ptr<HostLookups::Lookup> HostLookups::begin(const std::string& host) {
  AGW_ASSERT(may_begin());
  AGW_ASSERT(!active_.contains(host));
  threads_.start(ask_, host, [self = self_, host](Answer answer) {
    if (*self) (*self)->end(host, std::move(answer));
  });
  return active_.emplace(host, std::make_shared<Lookup>(loop_)).first->second;
}

void HostLookups::end(const std::string& host, Answer answer) {
  AGW_ASSERT(checker_.is_current());

  const auto lookup = active_.extract(host);
  AGW_ASSERT(lookup);
  AGW_ASSERT(!lookup.mapped()->is_done.happened());
  lookup.mapped()->answer = std::move(answer);
  lookup.mapped()->is_done.notify();
}

}  // namespace agw
