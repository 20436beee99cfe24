#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task_group.hpp"
#include "io/http/request_parser.hpp"
#include "io/process/blocking.hpp"
#include "io/proxy/program_secrets.hpp"
#include "io/tls/tls_stream.hpp"

namespace agw {

/// A tunnel to a host that gets a secret. To the program, the proxy acts as the host, with a certificate of the
/// gateway's own authority; to the host, it is a client that requires a valid certificate. Request heads are parsed
/// strictly, filled in and forwarded; bodies and responses are forwarded unread, one record at a time. Use it on the
/// loop only.
class DecryptedTunnel : public std::enable_shared_from_this<DecryptedTunnel> {
public:
  using Socket = asio::ip::tcp::socket;

  /// Shared by all tunnels of a network; must outlive them.
  struct Services {
    Loop& loop;
    BlockingPool& blocking;
    std::shared_ptr<const ProgramSecrets> secrets;
    TaskGroup& connections;  ///< owns the coroutine that forwards the responses
  };

  /// The sockets must be connected; `owner` owns them. `received` was already read from `inside`.
  DecryptedTunnel(const Services& services, HostPort target, Socket& inside, Socket& outside, std::string received,
                  std::shared_ptr<void> owner);

  /// Forwards requests until the program or the host ends the connection. Returns false if the program did not accept
  /// the certificate.
  Task<bool> run();

private:
  struct Refusal {
    unsigned status;
    std::string sentence;
  };

  Task<bool> open();
  Task<bool> forward_request();
  Task<bool> read_head();
  Task<std::string> fill(std::string raw);
  Task<bool> forward_body();
  Task<bool> forward_remaining();
  Task<> forward_responses();
  Task<> end();
  Task<> drain();
  bool refuse(unsigned status, std::string sentence);
  std::string named_host();

  Services services_;
  HostPort target_;
  std::shared_ptr<void> owner_;
  TlsStream inside_;
  TlsStream outside_;
  RequestParser parser_;
  std::string received_;  ///< decrypted bytes from the program, not yet forwarded
  std::string head_;      ///< of the current request, as sent by the program
  std::optional<Refusal> refusal_;
  bool has_requests_ = false;
};

}  // namespace agw
