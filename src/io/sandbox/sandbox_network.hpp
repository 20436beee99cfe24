#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "io/files/descriptor.hpp"

namespace agw {

/// The network of one sandboxed process: a separate namespace, in which one loopback port leads to a proxy of the
/// gateway. Nothing else can be reached.
class SandboxNetwork {
public:
  SandboxNetwork() = default;
  virtual ~SandboxNetwork() = default;
  SandboxNetwork(const SandboxNetwork&) = delete;
  SandboxNetwork& operator=(const SandboxNetwork&) = delete;

  /// The variables that lead programs to the proxy. Thread-safe.
  virtual std::map<std::string, std::string> variables() const = 0;

  /// The certificate authorities that programs trust, as PEM; empty: the host's. They replace the host's in
  /// `certificates_path`. Thread-safe.
  virtual std::string certificates() const { return {}; }
  static constexpr auto certificates_path = "/run/certificates/authorities.pem";

  /// Called on the loop when `bubblewrap` runs. `information` is what it writes about its child to (JSON, bwrap(1),
  /// `--info-fd`). The command waits until a line comes through `ready`: `ready`, or why it cannot begin.
  virtual void attach(pid_t bubblewrap, Descriptor information, Descriptor ready) = 0;
};

}  // namespace agw
