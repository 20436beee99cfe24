#pragma once

#include <string>

namespace agw {

/// The filter that sandboxed commands run behind, as a program for the kernel (BPF): they change no mounts, namespaces,
/// keys or other processes, and put nothing into a terminal. With the host's network they get no UNIX sockets but
/// pairs, because the host's abstract ones would be in reach. Throws std::runtime_error.
const std::string& system_call_filter(bool network);

}  // namespace agw
