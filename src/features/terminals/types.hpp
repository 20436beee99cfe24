#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace agw {

/// The limits of terminals.
struct TerminalLimits {
  std::size_t count = 8;                            ///< simultaneous terminals
  std::chrono::milliseconds idle{4 * 60 * 60'000};  ///< without input and output
  std::chrono::milliseconds lifetime{24 * 60 * 60'000};
  std::chrono::milliseconds alone{2 * 60'000};    ///< without a client, so that a page can be reloaded
  std::chrono::milliseconds hangup_grace{2'000};  ///< between SIGHUP and SIGKILL
};

/// Why a terminal has ended or left its client.
enum class TerminalEnd { exited, closed, moved, alone, idle, lifetime, deleted, disk, processes, stopped };
std::string_view to_text(TerminalEnd end);

}  // namespace agw
