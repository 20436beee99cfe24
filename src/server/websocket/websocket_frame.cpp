#include "server/websocket/websocket_frame.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw::websocket {

namespace {

std::uint64_t big_endian(std::string_view bytes) {
  AGW_ASSERT(bytes.size() <= sizeof(std::uint64_t));
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

void unmask(std::string& payload, std::string_view mask) {
  AGW_ASSERT(mask.size() == 4);
  std::uint32_t key = 0;
  std::memcpy(&key, mask.data(), sizeof key);
  std::size_t at = 0;
  for (; at + sizeof key <= payload.size(); at += sizeof key) {
    std::uint32_t word = 0;
    std::memcpy(&word, payload.data() + at, sizeof word);
    word ^= key;
    std::memcpy(payload.data() + at, &word, sizeof word);
  }
  for (; at < payload.size(); ++at) payload[at] = static_cast<char>(payload[at] ^ mask[at % 4]);
}

/// The limit of RFC 6455, 5.5.
constexpr std::size_t max_control_payload = 125;
constexpr std::size_t max_close_reason = 120;  // bytes
static_assert(sizeof(std::uint16_t) + max_close_reason <= max_control_payload);

bool is_control(Opcode opcode) { return static_cast<int>(opcode) >= 8; }

bool is_known(int opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

/// Codes that an endpoint may send (RFC 6455, 7.4.2).
bool may_be_sent(int code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

/// Whether the length is encoded in the fewest bytes, and valid (RFC 6455, 5.2).
bool is_proper_length(std::size_t extra_bytes, std::uint64_t size) {
  if (extra_bytes == 2) return size > 125;
  if (extra_bytes == 8) return size > 0xffff && size >> 63 == 0;
  return true;
}

}  // namespace

std::string frame_header(Opcode opcode, std::size_t size, bool final) {
  AGW_ASSERT(!is_control(opcode) || size <= max_control_payload);
  std::string out;
  out += static_cast<char>((final ? 0x80 : 0) | static_cast<int>(opcode));
  int bytes = 0;
  if (size < 126) {
    out += static_cast<char>(size);
  } else if (size <= 0xffff) {
    out += static_cast<char>(126);
    bytes = 2;
  } else {
    out += static_cast<char>(127);
    bytes = 8;
  }
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  AGW_ASSERT(out.size() == 2 + static_cast<std::size_t>(bytes));
  return out;
}

std::string frame(Opcode opcode, std::string_view payload) {
  auto out = frame_header(opcode, payload.size());
  out += payload;
  return out;
}

std::string close_frame(CloseCode code, std::string_view reason) {
  AGW_ASSERT(may_be_sent(static_cast<int>(code)));
  std::string payload;
  payload += static_cast<char>(static_cast<int>(code) >> 8);
  payload += static_cast<char>(static_cast<int>(code));
  payload += reason.substr(0, max_close_reason);
  AGW_ASSERT(payload.size() <= max_control_payload);
  return frame(Opcode::close, payload);
}

std::optional<std::string> accept_key(std::string_view key) {
  // A key is 16 bytes. OpenSSL would also accept `=` in other places.
  if (key.size() != 24 || key.find('=') != 22 || !key.ends_with("==")) return std::nullopt;
  std::array<unsigned char, 18> bytes;
  if (EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(key.data()), 24) != 18) return std::nullopt;

  const auto text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 32> encoded;
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(digest.size()));
  AGW_ASSERT(length > 0 && static_cast<std::size_t>(length) < encoded.size());
  return std::string(reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(length));
}

Incoming FrameReader::violation(CloseCode code, std::string why) {
  AGW_ASSERT(!ended_ && may_be_sent(static_cast<int>(code)));
  ended_ = true;
  return {Incoming::Kind::violation, std::move(why), code};
}

void FrameReader::put(std::string_view bytes) {
  AGW_ASSERT(taken_ <= buffer_.size());
  buffer_.erase(0, std::exchange(taken_, 0));
  buffer_.append(bytes);
}

std::optional<Incoming> FrameReader::next() {
  while (!ended_) {
    const auto before = taken_;
    auto incoming = take_frame();
    AGW_ASSERT(taken_ >= before && taken_ <= buffer_.size());
    // nullopt if the frame is incomplete or its message continues in the next one
    if (incoming || taken_ == before) return incoming;
  }
  return std::nullopt;
}

std::optional<Incoming> FrameReader::take_frame() {
  const auto rest = std::string_view(buffer_).substr(taken_);
  if (rest.size() < 2) return std::nullopt;
  const auto first = static_cast<unsigned char>(rest[0]);
  const auto second = static_cast<unsigned char>(rest[1]);
  if ((first & 0x70) != 0 || !is_known(first & 15)) return violation(CloseCode::protocol_error, "unknown frame");
  if ((second & 0x80) == 0) return violation(CloseCode::protocol_error, "frame without a mask");

  Header header{(first & 0x80) != 0, static_cast<Opcode>(first & 15), second & 0x7fu, 2};
  const std::size_t extra = header.size == 126 ? 2 : header.size == 127 ? 8 : 0;
  if (is_control(header.opcode) && (extra || !header.final)) {
    return violation(CloseCode::protocol_error, "bad control frame");
  }
  header.length = 2 + extra + 4;
  if (rest.size() < header.length) return std::nullopt;
  if (extra) header.size = big_endian(rest.substr(2, extra));
  if (!is_proper_length(extra, header.size)) return violation(CloseCode::protocol_error, "bad length of a frame");
  return take_payload(header, rest);
}

std::optional<Incoming> FrameReader::take_payload(const Header& header, std::string_view rest) {
  AGW_ASSERT(message_.size() <= message_limit_ && rest.size() >= header.length);
  const bool continues = header.opcode == Opcode::continuation;
  AGW_ASSERT(in_message_ || message_.empty());
  if (!is_control(header.opcode)) {
    if (continues != in_message_) return violation(CloseCode::protocol_error, "frame out of order");
    if (header.opcode == Opcode::binary) return violation(CloseCode::unsupported_data, "messages are JSON text");
    if (header.size > message_limit_ - message_.size())
      return violation(CloseCode::too_big, fmt::format("message over {} MiB", message_limit_ >> 20));
  }
  AGW_ASSERT(!is_control(header.opcode) || header.size <= max_control_payload);
  if (rest.size() - header.length < header.size) return std::nullopt;

  std::string payload(rest.substr(header.length, static_cast<std::size_t>(header.size)));
  unmask(payload, rest.substr(header.length - 4, 4));
  taken_ += header.length + payload.size();

  switch (header.opcode) {
    case Opcode::ping:
      return Incoming{Incoming::Kind::ping, std::move(payload)};
    case Opcode::pong:
      return Incoming{Incoming::Kind::pong, std::move(payload)};
    case Opcode::close:
      ended_ = true;
      return closed(payload);
    default:
      return take_data(header, payload);
  }
}

std::optional<Incoming> FrameReader::take_data(const Header& header, std::string_view payload) {
  message_ += payload;
  AGW_ASSERT(message_.size() <= message_limit_);
  in_message_ = !header.final;
  if (!header.final) return std::nullopt;
  auto message = std::exchange(message_, {});
  if (!is_utf8(message)) return violation(CloseCode::invalid_text, "messages must be UTF-8");
  return Incoming{Incoming::Kind::text, std::move(message)};
}

Incoming FrameReader::closed(std::string_view payload) {
  AGW_ASSERT(payload.size() <= max_control_payload);
  if (payload.empty()) return {Incoming::Kind::close, {}, CloseCode::normal};
  const auto code = payload.size() >= 2 ? static_cast<int>(big_endian(payload.substr(0, 2))) : 0;
  if (!may_be_sent(code)) return {Incoming::Kind::violation, "bad close code", CloseCode::protocol_error};
  if (!is_utf8(payload.substr(2))) return {Incoming::Kind::violation, "bad close reason", CloseCode::invalid_text};
  return {Incoming::Kind::close, {}, static_cast<CloseCode>(code)};
}

void FrameReader::shrink() {
  buffer_.erase(0, std::exchange(taken_, 0));
  if (buffer_.empty() && buffer_.capacity() > 64) buffer_.shrink_to_fit();
  if (!in_message_ && message_.capacity() > 64) message_.shrink_to_fit();
}

}  // namespace agw::websocket
