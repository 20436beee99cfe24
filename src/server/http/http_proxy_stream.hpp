#pragma once

#include <functional>
#include <string>

#include "api/proxy_stream.hpp"
#include "io/http/request_parser.hpp"
#include "server/http/response.hpp"
#include "server/http/socket_stream.hpp"

namespace agw {

/// The ProxyStream of a connection: reads the body of the request whose head `parser` contains, and frames the
/// response.
class HttpProxyStream : public ProxyStream {
public:
  struct Options {
    ResponseOptions response;
    std::string_view target;  ///< a view of the parser's head
    bool expects_continue = false;
    std::function<void(int status)> on_begin;
  };
  /// `in` holds the bytes received after the head, and at the end those received after the request.
  HttpProxyStream(SocketStream& stream, RequestParser& parser, std::string& in, Options options);

  std::string_view method() const override { return parser_.head().method; }
  std::string_view target() const override { return options_.target; }
  std::optional<std::uint64_t> body_length() const override;
  Task<std::optional<std::string>> read() override;
  Task<> wait_for_disconnect() override;
  Task<bool> begin(ResponseHead head) override;
  Task<bool> send(std::string_view piece) override;
  Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count) override;
  Task<bool> end() override;
  Task<bool> send_whole(ResponseHead head, std::string_view body) override;
  Task<bool> upgrade(Fields fields) override;
  StopSource& stop_source() override { return stop_source_; }

  bool begun() const { return begun_; }
  /// Whether the request and the response are complete, so that another request may follow.
  bool complete() const { return ended_ && !upgraded_ && parser_.done(); }
  bool upgraded() const { return upgraded_; }
  /// Ends every wait immediately.
  void abort();
  /// Whether the client has not sent or accepted bytes for too long. Called once a second.
  bool is_stuck(SocketStream::TimePoint now) const;

private:
  Task<std::optional<std::string>> read_raw();
  Task<bool> receive();
  Task<bool> write(std::string_view bytes);
  void write_head_of(ResponseHead head);
  bool has_body_to_send() const;

  SocketStream& stream_;
  RequestParser& parser_;
  std::string& in_;
  Options options_;
  Framing framing_ = Framing::length;
  std::string out_;
  StopSource stop_source_;
  int status_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  bool upgraded_ = false;
  bool reading_ = false;
};

}  // namespace agw
