#pragma once

#include <sys/types.h>

#include <cstdint>

#include "io/files/descriptor.hpp"

namespace agw {

/// A non-blocking TCP socket that listens on 127.0.0.1:`port` in the network namespace of the process `process`, which
/// must belong to a user namespace that this user created. It keeps that namespace alive. Blocks for less than a
/// millisecond. Throws std::system_error.
Descriptor listen_in_namespace_of(pid_t process, std::uint16_t port);

}  // namespace agw
