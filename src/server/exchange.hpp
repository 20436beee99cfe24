#pragma once

#include <functional>
#include <string>

#include "api/exchange.hpp"
#include "server/request_parser.hpp"
#include "server/response.hpp"
#include "server/wire.hpp"

namespace agw {

/// The Exchange of a connection: reads the rest of the request that `parser` has the head of, and frames the answer.
class HttpExchange : public Exchange {
public:
  struct Options {
    ResponseOptions response;
    std::string_view target;  ///< in the parser's head
    bool awaits_continue = false;
    std::function<void(int status)> on_begin;
  };
  /// `in` holds what has arrived behind the head, and afterwards what came behind the request.
  HttpExchange(Wire& wire, RequestParser& parser, std::string& in, Options options);

  std::string_view method() const override { return parser_.head().method; }
  std::string_view target() const override { return options_.target; }
  std::optional<std::uint64_t> body_length() const override;
  Task<std::optional<std::string>> read() override;
  Task<> gone() override;
  Task<bool> begin(AnswerHead head) override;
  Task<bool> send(std::string_view piece) override;
  Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count) override;
  Task<bool> end() override;
  Task<bool> upgrade(Fields fields) override;
  Stop& cut_off() override { return cut_off_; }

  bool begun() const { return begun_; }
  /// Whether another request may follow on the connection.
  bool complete() const { return ended_ && !upgraded_ && parser_.done(); }
  bool upgraded() const { return upgraded_; }
  /// Ends it now, whatever it waits for.
  void abort();
  /// Called each second. Whether a client has neither sent nor taken anything for too long.
  bool is_stuck(Wire::Moment now) const;

private:
  Task<std::optional<std::string>> read_raw();
  Task<bool> receive();
  Task<bool> write(std::string_view bytes);
  bool has_body_to_send() const;

  Wire& wire_;
  RequestParser& parser_;
  std::string& in_;
  Options options_;
  Framing framing_ = Framing::length;
  std::string out_;
  Stop cut_off_;
  int status_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  bool upgraded_ = false;
  bool reading_ = false;
};

}  // namespace agw
