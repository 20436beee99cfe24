#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/response.hpp"

namespace agw {

/// The head of an app's response.
struct AppResponse {
  int status = 0;
  Fields fields;
  std::optional<std::uint64_t> length;  ///< of the body, if the head declares it
  bool chunked = false;
  bool keep_alive = false;  ///< another request may follow on the connection
};

/// Reads an app's responses as they arrive, with Beast's parser.
class ResponseReader {
public:
  static constexpr std::size_t head_limit = 64 * 1024;

  ResponseReader();
  ~ResponseReader();

  /// Prepares for the next response. The response to a HEAD has no body, even if its head declares one.
  void reset(bool without_body);

  /// Consumes bytes from the beginning of `in` and returns how many. The head must be complete in one call.
  std::size_t put(std::string_view in);
  /// Call it when the peer has closed the connection.
  void put_end();

  bool head_done() const { return head_done_; }
  const AppResponse& head() const { return head_; }
  /// Whether the body is complete.
  bool done() const { return done_; }
  /// Whether the response is invalid HTTP.
  bool failed() const { return failed_; }
  /// The remaining bytes of a body with a declared length; 0 for others.
  std::uint64_t left() const { return done_ ? 0 : left_; }
  /// Skips bytes of the body that were moved without this reader.
  void skip(std::uint64_t count);
  /// The parts of the body that the latest `put` found: views into its `in`.
  const std::vector<std::string_view>& pieces() const { return pieces_; }

private:
  struct Parser;
  std::size_t put_head(std::string_view in);
  std::size_t put_body(std::string_view in);
  std::size_t put_chunks(std::string_view in);
  void finish_head();

  std::unique_ptr<Parser> parser_;
  AppResponse head_;
  std::vector<std::string_view> pieces_;
  std::uint64_t left_ = 0;  ///< remaining bytes of a body with a declared length
  bool without_body_ = false;
  bool head_done_ = false;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace agw
