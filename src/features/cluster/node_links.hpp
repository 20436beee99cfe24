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

/// Direct connections between nodes, for traffic that is too large for NATS, such as that of apps. Their addresses are
/// in the database. Each connection begins with a sealed request, which the other node answers with 101. With
/// `https://`, the other node must present a certificate that this host trusts.
///
/// It needs nodes: tests/cluster/test_node_apps.py shows the use.
class NodeLinks {
public:
  struct Options {
    std::string node;  ///< the name of this node
    std::string secret;
    std::int64_t epoch = 0;
  };
  NodeLinks(Loop& loop, Database& database, BlockingPool& blocking, const Options& options);
  ~NodeLinks();

  /// The address of a node that listens on loopback. It is marked with an id of this host or container, so that nodes
  /// elsewhere do not connect to their own loopback.
  static std::string address_on_loopback(const std::string& url);

  /// Opens a connection to what the other node serves at `path`; no value if it answers 404 or 502. Throws ApiError 503
  /// with the node's name and the reason.
  Task<std::optional<asio::ip::tcp::socket>> open(std::string node, std::string path);
  /// Throws Forbidden unless another node has sent the request to this node.
  void check(const Request& request);

  Task<> stop();

private:
  using Socket = asio::ip::tcp::socket;
  struct Link;
  using LinkPointer = std::shared_ptr<Link>;

  Task<std::vector<asio::ip::tcp::endpoint>> endpoints_of(WebUrl url);
  Task<> connect(LinkPointer link, std::string head);
  Task<> start_tls(LinkPointer link);
  Task<> request_upgrade(LinkPointer link, std::string head);
  Socket local_socket(const LinkPointer& link);
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
