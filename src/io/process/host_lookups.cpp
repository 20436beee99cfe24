#include "io/process/host_lookups.hpp"

#include <netdb.h>
#include <pthread.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include "io/process/start_thread.hpp"

namespace agw {

namespace {

constexpr std::size_t max_names_at_once = 16;
constexpr std::size_t lookup_stack_size = 1 << 20;

}  // namespace

/// Used on the loop only.
struct HostLookups::Lookup {
  explicit Lookup(Loop& loop) : is_done(loop) {}
  AsyncEvent is_done;
  Answer answer;
};

/// Delivers answers from the threads to the loop. It is all that a thread refers to, because a thread may outlive the
/// loop and the lookups.
struct HostLookups::Mailbox {
  std::mutex mutex;
  HostLookups* owner;  ///< null after its destruction
};

HostLookups::HostLookups(Loop& loop, Ask ask)
    : loop_(loop), ask_(std::move(ask)), mailbox_(std::make_shared<Mailbox>()), any_has_ended_(loop) {
  mailbox_->owner = this;
}

HostLookups::~HostLookups() {
  AGW_ASSERT(checker_.is_current());

  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->owner = nullptr;
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
  return answer;
}

Task<HostLookups::Answer> HostLookups::find(std::string host) {
  AGW_ASSERT(checker_.is_current());

  while (active_.size() == max_names_at_once && !active_.contains(host)) co_await any_has_ended_.wait();
  const auto known = active_.find(host);
  const auto lookup = known == active_.end() ? begin(host) : known->second;
  co_await lookup->is_done.wait();
  co_return lookup->answer;
}

std::shared_ptr<HostLookups::Lookup> HostLookups::begin(const std::string& host) {
  AGW_ASSERT(active_.size() < max_names_at_once && !active_.contains(host));
  auto work = [mailbox = mailbox_, ask = ask_, host] {
    auto answer = ask(host);
    const std::lock_guard lock(mailbox->mutex);
    if (!mailbox->owner) return;
    asio::post(mailbox->owner->loop_, [mailbox, host, answer = std::move(answer)]() mutable {
      if (mailbox->owner) mailbox->owner->end(host, std::move(answer));
    });
  };
  pthread_detach(start_thread("agw-lookup", std::move(work), lookup_stack_size));
  return active_.emplace(host, std::make_shared<Lookup>(loop_)).first->second;
}

void HostLookups::end(const std::string& host, Answer answer) {
  AGW_ASSERT(checker_.is_current());

  const auto lookup = active_.extract(host);
  AGW_ASSERT(lookup);
  lookup.mapped()->answer = std::move(answer);
  lookup.mapped()->is_done.notify();
  any_has_ended_.pulse();
}

}  // namespace agw
