#include "io/process/network_namespace.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "io/process/scoped_signal_block.hpp"

namespace agw {

namespace {

constexpr std::size_t visitor_stack_size = std::size_t{64} * 1024;
constexpr std::size_t max_sockets = 64;

/// Parameters of the child, allocated before it exists: it shares this process's memory and descriptors and must not
/// allocate.
struct Visit {
  int user_namespace = -1;
  int network_namespace = -1;
  int family = AF_INET;
  const sockaddr_in* address = nullptr;  ///< the address to listen at
  std::size_t wanted = 1;
  int* sockets = nullptr;  ///< array of `wanted` elements
  std::size_t made = 0;
  int error = EINTR;  ///< 0 once it has made all; unchanged if another process kills the child before
};

// Not instrumented, because it runs on a stack unknown to sanitizers.
#define AGW_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

AGW_IN_CHILD bool listen_on(int socket, const sockaddr_in& address) {
  const int on = 1;
  // The loopback device may not be up yet.
  if (::setsockopt(socket, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) != 0) return false;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return false;
  return ::listen(socket, SOMAXCONN) == 0;
}

AGW_IN_CHILD bool make_sockets(Visit& visit) {
  // Entering the user namespace gives the rights over the network namespace. Only a single-threaded process can enter
  // it.
  if (::setns(visit.user_namespace, CLONE_NEWUSER) != 0) return false;
  if (::setns(visit.network_namespace, CLONE_NEWNET) != 0) return false;
  while (visit.made < visit.wanted) {
    const int socket = ::socket(visit.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return false;
    *(visit.sockets + visit.made++) = socket;
    if (visit.address != nullptr && !listen_on(socket, *visit.address)) return false;
  }
  return true;
}

AGW_IN_CHILD int visit_namespace(void* argument) {
  auto& visit = *static_cast<Visit*>(argument);
  visit.error = make_sockets(visit) ? 0 : errno;
  _exit(0);
}

std::vector<Descriptor> result_of(Visit visit) {
  AGW_ASSERT(visit.user_namespace >= 0);
  AGW_ASSERT(visit.network_namespace >= 0);
  AGW_ASSERT(visit.wanted > 0);
  AGW_ASSERT(visit.wanted <= max_sockets);
  std::vector<int> numbers(visit.wanted);
  visit.sockets = numbers.data();
  std::vector<std::max_align_t> stack(visitor_stack_size / sizeof(std::max_align_t));
  {
    const ScopedSignalBlock no_handler_runs_in_the_child;
    const auto id = ::clone(visit_namespace, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_FILES, &visit);
    if (id < 0) throw_errno("cannot enter the network of the sandbox");
    while (::waitpid(id, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  AGW_ASSERT(visit.made <= visit.wanted);
  AGW_ASSERT(visit.error != 0 || visit.made == visit.wanted);
  std::vector<Descriptor> sockets;
  sockets.reserve(visit.made);
  for (std::size_t i = 0; i < visit.made; ++i) sockets.emplace_back(numbers.at(i));
  if (visit.error == 0) return sockets;
  errno = visit.error;
  throw_errno("cannot use the network of the sandbox");
}

}  // namespace

NetworkNamespace::NetworkNamespace(pid_t process)
    : network_(::open(fmt::format("/proc/{}/ns/net", process).c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!network_) throw_errno("cannot open the network of the sandbox");
  user_ = Descriptor(::ioctl(network_.get(), NS_GET_USERNS));
  if (!user_) throw_errno("cannot open the user namespace of the sandbox");
}

Descriptor NetworkNamespace::listen(std::uint16_t port) const {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto made = result_of({.user_namespace = user_.get(), .network_namespace = network_.get(), .address = &address});
  AGW_ASSERT(made.size() == 1);
  return std::move(made.front());
}

std::vector<Descriptor> NetworkNamespace::sockets(int family, std::size_t count) const {
  return result_of({.user_namespace = user_.get(),
                    .network_namespace = network_.get(),
                    .family = family,
                    .wanted = std::min(count, max_sockets)});
}

}  // namespace agw
