#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/answer.hpp"

namespace agw {

/// The head of an app's answer.
struct AppResponse {
  int status = 0;
  Fields fields;
  std::optional<std::uint64_t> length;  ///< of the body, where it is told
  bool chunked = false;
  bool keep_alive = false;  ///< another request may follow on the connection
};

/// Reads what an app answers, as it comes: Beast's parser.
class ResponseReader {
public:
  static constexpr std::size_t head_limit = 64 * 1024;

  ResponseReader();
  ~ResponseReader();

  /// Gets ready for the next answer. Those to a HEAD have no body, whatever their head says.
  void reset(bool without_body);

  /// Takes bytes from the front of `in` and says how many. The head must be there in one piece.
  std::size_t put(std::string_view in);
  /// The other side has ended the connection.
  void put_end();

  bool head_done() const { return head_done_; }
  const AppResponse& head() const { return head_; }
  /// The body is complete.
  bool done() const { return done_; }
  /// It is no HTTP, or broken.
  bool failed() const { return failed_; }
  /// How much is still to come of a body whose length was told; 0 for others.
  std::uint64_t left() const { return done_ ? 0 : left_; }
  /// So much of it was taken past this reader.
  void skip(std::uint64_t count);
  /// What the latest `put` found of the body: views into its `in`.
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
  std::uint64_t left_ = 0;  ///< of a body whose length was told
  bool without_body_ = false;
  bool head_done_ = false;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace agw
