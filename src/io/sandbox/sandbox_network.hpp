#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "io/files/descriptor.hpp"

namespace agw {

/// The network of one sandboxed process: a separate namespace with one loopback port, which leads to a proxy of the
/// gateway. Nothing else can be reached.
class SandboxNetwork {
public:
  SandboxNetwork() = default;
  virtual ~SandboxNetwork() = default;
  SandboxNetwork(const SandboxNetwork&) = delete;
  SandboxNetwork& operator=(const SandboxNetwork&) = delete;

  /// The environment variables that make programs use the proxy. Thread-safe.
  virtual std::map<std::string, std::string> variables() const = 0;

  /// The certificate authorities that programs trust, as PEM; empty for the host's. They replace the host's in
  /// `certificates_path`. Thread-safe.
  virtual std::string certificates() const { return {}; }
  static constexpr auto certificates_path = "/run/certificates/authorities.pem";

  /// Called on the loop when `bubblewrap` runs. It writes JSON about its child to `information` (bwrap(1),
  /// `--info-fd`). The command waits for a line from `ready`: `ready`, or the reason why it cannot start.
  virtual void attach(pid_t bubblewrap, Descriptor information, Descriptor ready) = 0;
};

}  // namespace agw
