#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "io/files/descriptor.hpp"
#include "io/xmpp/libstrophe.hpp"
#include "io/xmpp/xmpp_connection.hpp"

namespace agw {

/// State shared by the loop and the thread of a connection.
struct XmppShared {
  static constexpr std::size_t max_waiting = 1000;

  std::mutex mutex;
  std::string outgoing;                 ///< guarded by the mutex
  bool is_closing = false;              ///< guarded by the mutex
  Descriptor socket;                    ///< guarded by the mutex: a duplicate, used to end blocking calls
  Descriptor wake;                      ///< an eventfd, readable when the thread has work
  std::atomic<std::size_t> waiting{0};  ///< stanzas that were received but not handled
  std::atomic<bool> has_stream_management{false};
  std::atomic<bool> is_private{false};

  void wake_up() const;
};

/// The part of a connection that runs on its thread.
class XmppWorker {
public:
  struct Events {
    std::function<void()> opened;
    std::function<void(XmppElement)> arrived;
  };

  XmppWorker(XmppShared& shared, XmppLogin login, Events events);
  /// Connects, works until the connection has ended, and returns the reason.
  XmppFailure run();

private:
  using Clock = std::chrono::steady_clock;

  void connect();
  void step();
  void send_queued();
  bool is_full() const;
  int wait_time() const;
  void check_address();
  void check_size();
  std::uint64_t received_bytes() const;
  void fail(std::string text, XmppFailure::Kind kind = XmppFailure::Kind::broken);
  void take_socket(int socket);

  void note(xmpp_log_level_t level, std::string_view text);
  void changed(xmpp_conn_event_t event, const xmpp_stream_error_t* error);
  void arrived(xmpp_stanza_t* stanza);
  XmppElement element_of(xmpp_stanza_t* stanza, int depth) const;
  XmppFailure failure_of(const xmpp_stream_error_t* error) const;

  // Called by libstrophe.
  static const xmpp_mem_t limited_memory;
  static void* on_growth(void* memory, std::size_t size, void*) noexcept;
  static void on_log(void* self, xmpp_log_level_t level, const char* area, const char* text) noexcept;
  static void on_event(xmpp_conn_t* connection, xmpp_conn_event_t event, int error, xmpp_stream_error_t* stream_error,
                       void* self) noexcept;
  static int on_stanza(xmpp_conn_t* connection, xmpp_stanza_t* stanza, void* self) noexcept;
  static int on_socket(xmpp_conn_t* connection, void* socket) noexcept;
  static int on_certificate(const xmpp_tlscert_t* certificate, const char* error) noexcept;

  XmppShared& shared_;
  const XmppLogin login_;
  const Events events_;
  const Strophe& strophe_;
  xmpp_log_t log_;
  xmpp_ctx_t* context_ = nullptr;
  xmpp_conn_t* connection_ = nullptr;
  bool is_open_ = false;
  bool is_closing_ = false;
  bool has_ended_ = false;
  bool is_address_checked_ = false;
  bool has_long_text_ = false;
  bool has_sent_ = false;
  XmppFailure failure_;
  std::string certificate_error_;
  std::string login_error_;
  bool is_refused_ = false;
  std::string last_error_;
  int connect_error_ = 0;
  std::uint64_t bytes_before_ = 0;  ///< received up to the last stanza
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_sent_{};
};

}  // namespace agw
