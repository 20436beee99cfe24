#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "io/process/blocking.hpp"
#include "io/process/host_lookups.hpp"
#include "io/process/network_namespace.hpp"
#include "io/proxy/program_secrets.hpp"
#include "io/proxy/proxy_request.hpp"
#include "io/sandbox/sandbox_network.hpp"

namespace agw {

/// Whether a program may reach a host.
struct HostVerdict {
  bool allowed = false;
  std::string reason{};         ///< if not allowed: one sentence that names the rule
  bool is_forbidden = false;    ///< if not allowed: by a rule, not because the host cannot be reached
  bool may_be_private = false;  ///< the host may have an address that is not public
};

/// The rules of one network, called on the loop.
struct ProxyPolicy {
  /// Decides about a connection, before the name is resolved.
  std::function<Task<HostVerdict>(HostPort target)> judge;
  /// Called once the connection is made or refused.
  std::function<void(const HostPort& target, const HostVerdict& verdict)> note;
  /// Where a person lists hosts: `the agent's capabilities`.
  std::string named_in = "the agent's capabilities";
  /// The rules name the host's loopback, so programs must use the proxy to reach it.
  bool names_loopback = false;
  HostLookups::Ask resolve = HostLookups::ask_system;
  std::chrono::milliseconds time_to_resolve = std::chrono::minutes(1);
};

/// A network whose only exit is an HTTP proxy (CONNECT, and plain requests for `http://` URLs) that applies the policy
/// to each host. It resolves names itself and connects to the address that it checked, so later answers of a name
/// server cannot redirect a connection. A refusal is a 403 with the verdict's reason as its body. `localhost` is the
/// sandbox's own if a program listens there. Use it on the loop only, except for `variables` and `certificates`.
/// Example: src/io/proxy/proxied_network_test.cpp: SandboxNetworkTest.LeadsToTheHostsThatItsRulesAllow
class ProxiedNetwork final : public SandboxNetwork {
public:
  /// The proxy's port in the sandbox: outside the range that kernels assign, and no program's default.
  static constexpr std::uint16_t port = 61'980;

  /// With `secrets`, tunnels to their hosts are decrypted, and secrets are filled in.
  ProxiedNetwork(Loop& loop, BlockingPool& blocking, ProxyPolicy policy,
                 std::shared_ptr<const ProgramSecrets> secrets = nullptr);
  ~ProxiedNetwork() override;

  std::map<std::string, std::string> variables() const override;
  std::string certificates() const override;
  void attach(pid_t bubblewrap, Descriptor information, Descriptor ready) override;

  /// Connects to a server on that port of the sandbox's loopback, by IPv4 or else by IPv6. Nullopt if there is no
  /// server, or if there is no sandbox yet or any more. This object must outlive the call.
  Task<std::optional<asio::ip::tcp::socket>> connect_inside(std::uint16_t inner_port);

  /// Ends all connections. Await it before the destruction if `attach` was called.
  Task<> close();

private:
  struct Tunnel;
  using TunnelPointer = std::shared_ptr<Tunnel>;
  Task<Descriptor> socket_inside(int family);
  Task<> serve(Descriptor information, Descriptor ready);
  Task<> accept_all(Descriptor listener);
  Task<> handle_connection(TunnelPointer tunnel);
  Task<> open_tunnel(TunnelPointer tunnel, std::string head, std::string rest);
  Task<> forward(TunnelPointer tunnel, ProxyRequest request, std::string rest);
  Task<bool> connect_to_own_loopback(TunnelPointer tunnel, HostPort target);
  static Task<> refuse(TunnelPointer tunnel, std::string message);
  Task<HostVerdict> connect(TunnelPointer tunnel, HostPort target, HostVerdict verdict, unsigned& status);
  Task<> decrypt(TunnelPointer tunnel, ProxyRequest request, std::string received);
  static Task<> pump(TunnelPointer tunnel, bool outward);

  Loop& loop_;
  BlockingPool& blocking_;
  ProxyPolicy policy_;
  HostLookups lookups_;
  std::shared_ptr<const ProgramSecrets> secrets_;
  bool has_reported_refusal_ = false;  ///< the program's refusal of a certificate was reported
  std::size_t tunnels_ = 0;
  AsyncEvent tunnel_ended_;
  std::shared_ptr<const NetworkNamespace> namespace_;     ///< null: none yet, or no longer
  std::map<int, std::vector<Descriptor>> spare_sockets_;  ///< created in `namespace_`, by family
  TaskGroup connections_;
};

}  // namespace agw
