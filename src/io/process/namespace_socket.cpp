#include "io/process/namespace_socket.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "io/process/scoped_signal_block.hpp"

namespace agw {

namespace {

constexpr std::size_t visitor_stack_size = std::size_t{64} * 1024;

/// Made before the child exists, which shares this process's memory and descriptors and must not allocate.
struct Visit {
  int user_namespace;
  int network_namespace;
  sockaddr_in address;
  int listener = -1;
  int error = 0;
};

// Not instrumented: it runs on a stack that no sanitizer knows.
#define AGW_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

AGW_IN_CHILD bool listen_there(Visit& visit) {
  // The rights over a namespace of this user's come with entering its user namespace, which only a process of a single
  // thread can.
  if (::setns(visit.user_namespace, CLONE_NEWUSER) != 0) return false;
  if (::setns(visit.network_namespace, CLONE_NEWNET) != 0) return false;
  visit.listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (visit.listener < 0) return false;
  const int on = 1;
  // The loopback device may not be up yet.
  if (::setsockopt(visit.listener, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) != 0) return false;
  const auto* const address = reinterpret_cast<const sockaddr*>(&visit.address);
  if (::bind(visit.listener, address, sizeof(visit.address)) != 0) return false;
  return ::listen(visit.listener, SOMAXCONN) == 0;
}

AGW_IN_CHILD int visit_namespace(void* argument) {
  auto& visit = *static_cast<Visit*>(argument);
  if (!listen_there(visit)) visit.error = errno;
  _exit(0);
}

}  // namespace

Descriptor listen_in_namespace_of(pid_t process, std::uint16_t port) {
  const Descriptor network(::open(fmt::format("/proc/{}/ns/net", process).c_str(), O_RDONLY | O_CLOEXEC));
  if (!network) throw_errno("cannot open the network of the sandbox");
  const Descriptor user(::ioctl(network.get(), NS_GET_USERNS));
  if (!user) throw_errno("cannot open the user namespace of the sandbox");
  Visit visit{.user_namespace = user.get(), .network_namespace = network.get(), .address = {}};
  visit.address.sin_family = AF_INET;
  visit.address.sin_port = htons(port);
  visit.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<std::max_align_t> stack(visitor_stack_size / sizeof(std::max_align_t));
  {
    const ScopedSignalBlock no_handler_runs_in_the_child;
    const auto id = ::clone(visit_namespace, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_FILES, &visit);
    if (id < 0) throw_errno("cannot enter the network of the sandbox");
    while (::waitpid(id, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  Descriptor listener(visit.listener);
  if (visit.error == 0) return listener;
  errno = visit.error;
  throw_errno("cannot listen in the network of the sandbox");
}

}  // namespace agw
