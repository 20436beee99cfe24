#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/files/descriptor.hpp"

namespace agw {

/// The network namespace of a process, kept alive by this object and by the sockets created in it. A socket stays in
/// the namespace in which it was created, so this process can use it like any other. Thread-safe.
class NetworkNamespace {
public:
  /// `process` must belong to a user namespace that this user created. Throws std::system_error.
  explicit NetworkNamespace(pid_t process);

  // Each function blocks for less than a millisecond, and throws std::system_error.

  /// Creates a non-blocking TCP socket that listens on 127.0.0.1:`port`.
  Descriptor listen(std::uint16_t port) const;
  /// Creates non-blocking TCP sockets of that family (AF_INET, AF_INET6), neither bound nor connected.
  std::vector<Descriptor> sockets(int family, std::size_t count) const;

private:
  Descriptor network_;
  Descriptor user_;
};

}  // namespace agw
