#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/cluster/node_seal.hpp"
#include "io/process/host_lookups.hpp"

namespace agw {

class BlockingPool;
class Database;
class Request;
class TrustedRoots;
class WebUrl;

/// Connections of nodes to each other, at the addresses that they have written into the database: what is too much for
/// NATS, such as the traffic of apps. Each is a request with a seal, which the other node answers with 101. With
/// `https://`, the other node must show a certificate that this host trusts.
///
/// It needs nodes: tests/cluster/test_node_apps.py shows the use.
class NodeLinks {
public:
  struct Options {
    std::string node;  ///< this one's name
    std::string secret;
    std::int64_t epoch = 0;
  };
  NodeLinks(Loop& loop, Database& database, BlockingPool& blocking, const Options& options);
  ~NodeLinks();

  /// The address of a node that listens on loopback, for nodes with the same one: other hosts and containers have
  /// another, and must not take it for this.
  static std::string address_on_loopback(const std::string& url);

  /// A connection to what the other node serves at `path`; no value if there is nothing (it answers 404 or 502). Throws
  /// ApiError 503, which names the node and says why.
  Task<std::optional<asio::ip::tcp::socket>> open(std::string node, std::string path);
  /// Throws Forbidden unless another node has sent the request, to this one.
  void check(const Request& request);

  Task<> stop();

private:
  using Socket = asio::ip::tcp::socket;
  struct Link;
  using LinkPointer = std::shared_ptr<Link>;

  Task<std::vector<asio::ip::tcp::endpoint>> endpoints_of(WebUrl url);
  Task<> connect(LinkPointer link, std::string head);
  Task<> shake_hands(LinkPointer link);
  Task<> be_accepted(LinkPointer link, std::string head);
  Socket near_end(const LinkPointer& link);
  Task<> send_all(LinkPointer link);
  Task<> receive_all(LinkPointer link);

  Loop& loop_;
  Database& database_;
  BlockingPool& blocking_;
  HostLookups lookups_;
  const Options options_;
  NodeSeals seals_;
  const std::string loopback_;
  std::int64_t calls_ = 0;
  std::shared_ptr<const TrustedRoots> roots_;
  StopSource stopping_;
  TaskGroup group_;
};

}  // namespace agw
