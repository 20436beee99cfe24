#pragma once

#include <string>

namespace agw {

/// The filter that sandboxed commands run behind, as a program for the kernel (BPF): they change no mounts, namespaces,
/// keys or other processes, and put nothing into a terminal. They get no UNIX sockets but connected pairs: those of the
/// host that lie in a project would be in reach, with the host's network its abstract ones too. Throws
/// std::runtime_error.
const std::string& system_call_filter();

}  // namespace agw
