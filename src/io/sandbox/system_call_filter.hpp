#pragma once

#include <string>

namespace agw {

enum class UnixSockets { denied, allowed };

/// The seccomp filter of sandboxed commands as a BPF program. Denies changes to mounts, namespaces, keys or other
/// processes, and input to terminals. Denies UNIX sockets except connected pairs: otherwise host sockets in a project
/// would be reachable, and with the host's network also its abstract ones. `UnixSockets::allowed` is for a program that
/// sees no directory in which a host's socket could be, and has its own network. Throws std::runtime_error.
const std::string& system_call_filter(UnixSockets unix_sockets);

}  // namespace agw
