#pragma once

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
  std::string reason{};         ///< if not: one sentence that names the rule
  bool may_be_private = false;  ///< the host may be at an address that is not public
};

/// The rules of one network, called on the loop.
struct ProxyPolicy {
  /// Called before the name is resolved, for each connection.
  std::function<Task<HostVerdict>(HostPort target)> judge;
  /// Called once it is known whether the connection is made or refused.
  std::function<void(const HostPort& target, const HostVerdict& verdict)> note;
  /// Where a person names hosts: `the agent's capabilities`.
  std::string named_in = "the agent's capabilities";
  /// The rules name the host's loopback, so that programs must ask the proxy for it.
  bool names_loopback = false;
  HostLookups::Ask resolve = HostLookups::ask_system;
};

/// A network whose only way out is an HTTP proxy (CONNECT, and plain requests for `http://` URLs) that judges each
/// host. It resolves names itself and connects to the address that it checked, so no answer of a name server can change
/// where a connection leads. A refusal is a 403 whose body is the verdict's reason. `localhost` is the sandbox's own if
/// something listens there. On the loop, but for `variables` and `certificates`.
/// Example: src/io/proxy/proxied_network_test.cpp: SandboxNetworkTest.LeadsToTheHostsThatItsRulesAllow
class ProxiedNetwork final : public SandboxNetwork {
public:
  /// The port in the sandbox: none that a kernel assigns by itself, and no program's default.
  static constexpr std::uint16_t port = 61'980;

  /// With `secrets`, tunnels to the hosts that these concern are decrypted, and their requests filled in.
  ProxiedNetwork(Loop& loop, BlockingPool& blocking, ProxyPolicy policy,
                 std::shared_ptr<const ProgramSecrets> secrets = nullptr);
  ~ProxiedNetwork() override;

  std::map<std::string, std::string> variables() const override;
  std::string certificates() const override;
  void attach(pid_t bubblewrap, Descriptor information, Descriptor ready) override;

  /// A connection to what listens on that port of the sandbox's loopback, by IPv4 or else by IPv6. No value if nothing
  /// does, or if there is no sandbox yet or any more. This object must outlive the call.
  Task<std::optional<asio::ip::tcp::socket>> connect_inside(std::uint16_t inner_port);

  /// Ends all connections. To be awaited before the end of this object, if `attach` was called.
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
  bool has_reported_refusal_ = false;  ///< of a certificate, by the program
  std::size_t tunnels_ = 0;
  AsyncEvent tunnel_ended_;
  std::shared_ptr<const NetworkNamespace> namespace_;     ///< null: there is none yet, or any more
  std::map<int, std::vector<Descriptor>> spare_sockets_;  ///< in it, by family
  TaskGroup connections_;
};

}  // namespace agw
