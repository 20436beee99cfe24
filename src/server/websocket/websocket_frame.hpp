#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// WebSocket frames (RFC 6455). We do not use Beast's stream, because an event is framed once and shared by all
/// clients; Beast would answer pings on the same connection and interleave them with such frames.
namespace websocket {

enum class Opcode { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Status codes of a close frame (RFC 6455, 7.4.1; 1013 by IANA).
enum class CloseCode {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported_data = 1003,
  invalid_text = 1007,
  too_big = 1009,
  internal_error = 1011,
  service_restart = 1012,
  try_again_later = 1013,
};

/// A complete frame from the server: final and unmasked.
std::string frame(Opcode opcode, std::string_view payload);
/// The header of a frame with a payload of `size` bytes. If not `final`, continuation frames follow.
std::string frame_header(Opcode opcode, std::size_t size, bool final = true);
std::string close_frame(CloseCode code, std::string_view reason);

/// The value of Sec-WebSocket-Accept for a client's key; nullopt if the key is not 16 bytes in base64.
std::optional<std::string> accept_key(std::string_view key);

/// A message or control frame from a client, or an error in its frames.
struct Incoming {
  enum class Kind { text, ping, pong, close, violation };
  Kind kind;
  std::string payload;                 ///< of a violation: the reason
  CloseCode code = CloseCode::normal;  ///< of a close or violation: the code to respond with
};

/// Assembles a client's messages from the bytes of frames. Ignores everything after a close frame or a violation.
/// Example: src/server/websocket/websocket_frame_test.cpp: Frames.PutsFragmentsTogetherAroundControlFrames
class FrameReader {
public:
  static constexpr std::size_t default_limit = 1024 * 1024;

  /// `message_limit` is the maximum size of a message in bytes.
  explicit FrameReader(std::size_t message_limit = default_limit) : message_limit_(message_limit) {}

  void put(std::string_view bytes);
  /// Returns the next complete message, if any.
  std::optional<Incoming> next();
  /// Frees empty buffers.
  void shrink();

private:
  struct Header {
    bool final;
    Opcode opcode;
    std::uint64_t size;
    std::size_t length;  ///< of the header
  };
  std::optional<Incoming> take_frame();
  std::optional<Incoming> take_payload(const Header& header, std::string_view rest);
  std::optional<Incoming> take_data(const Header& header, std::string_view payload);
  static Incoming closed(std::string_view payload);
  Incoming violation(CloseCode code, std::string why);

  std::size_t message_limit_;
  std::string buffer_;
  std::size_t taken_ = 0;  ///< bytes of the buffer that were parsed
  std::string message_;
  bool in_message_ = false;
  bool ended_ = false;
};

}  // namespace websocket
}  // namespace agw
