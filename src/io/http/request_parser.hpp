#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/http/head.hpp"

namespace agw {

/// Parses one request incrementally: Beast's parser, made strict by check_framing.
/// Example: src/io/http/head_test.cpp: RequestParser.ReadsBodiesHoweverTheyArrive
class RequestParser {
public:
  static constexpr std::size_t head_limit = 64 * 1024;  ///< bytes; applies to a trailer too
  static constexpr std::size_t chunk_line_limit = 4096;

  RequestParser();
  ~RequestParser();

  /// Starts the next request of the connection.
  void reset();

  /// Parses bytes from the front of `in` and returns how many were used. Stops at the end of the head, and again at the
  /// end of the body. The head must be contiguous: pass unused bytes again, followed by the next ones.
  std::size_t put(std::string_view in);

  bool head_done() const { return head_done_; }
  bool done() const;
  /// The reason why the request is rejected; the connection must be closed after the response.
  const std::optional<Refusal>& refusal() const { return refusal_; }

  Head& head() { return head_; }
  const Head& head() const { return head_; }

  /// Stores the body, up to `limit` bytes; sets `body_too_large` beyond that. Without this call the body is discarded.
  void collect_body(std::size_t limit);
  /// Stores the body's bytes until `take_body`, without a limit on their total.
  void stream_body();
  bool body_too_large() const { return body_too_large_; }
  std::string take_body() { return std::exchange(body_, {}); }
  /// Bytes of the body that have been parsed.
  std::size_t body_received() const { return body_received_; }

private:
  struct Parser;
  std::size_t put_head(std::string_view in);
  std::size_t put_body(std::string_view in);

  std::unique_ptr<Parser> parser_;
  Head head_;
  bool head_done_ = false;
  std::optional<Refusal> refusal_;
  std::string body_;
  std::optional<std::size_t> body_limit_;
  std::size_t body_received_ = 0;
  bool body_too_large_ = false;
};

}  // namespace agw
