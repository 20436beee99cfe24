#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "api/idempotency_store.hpp"
#include "api/proxy_stream.hpp"

namespace agw {

/// A stream whose response is stored for repeated requests. The handler may continue after the client has disconnected:
/// only `wait_for_disconnect` reports that, not a send.
class RecordedStream : public ProxyStream {
public:
  static constexpr std::size_t max_body = 8 * 1024 * 1024;

  /// Stores a response without its `body_hash`.
  using Store = std::function<Task<>(idempotency_store::StoredResponse response)>;

  /// `content` is the body of the request, already read from `stream`, which must outlive this object. If the response
  /// is a success and not too long, `store` is called before the client learns that it is complete.
  RecordedStream(ProxyStream& stream, std::string content, Store store)
      : stream_(stream), content_(std::move(content)), store_(std::move(store)) {}

  std::string_view method() const override { return stream_.method(); }
  std::string_view target() const override { return stream_.target(); }
  std::optional<std::uint64_t> body_length() const override { return stream_.body_length(); }
  Task<std::optional<std::string>> read() override;
  Task<> wait_for_disconnect() override { return stream_.wait_for_disconnect(); }
  StopSource& stop_source() override { return stream_.stop_source(); }

  Task<bool> begin(ResponseHead head) override;
  Task<bool> send(std::string_view piece) override;
  Task<bool> end() override;
  void mark_failed() override { has_failed_ = true; }
  Task<std::uint64_t> move_from(asio::ip::tcp::socket& /*source*/, std::uint64_t /*count*/) override { co_return 0; }
  Task<bool> upgrade(Fields fields) override { return stream_.upgrade(std::move(fields)); }

private:
  bool has_begun() const { return !response_.fields.empty(); }
  bool is_to_store() const;

  ProxyStream& stream_;
  std::string content_;
  const Store store_;
  idempotency_store::StoredResponse response_;
  std::optional<ResponseHead> whole_;  ///< the head of a response of known length, sent at the end
  bool has_failed_ = false;
  bool is_connected_ = true;
};

/// Sends a stored response.
Task<> send_recorded(ProxyStream& stream, const idempotency_store::StoredResponse& response);

}  // namespace agw
