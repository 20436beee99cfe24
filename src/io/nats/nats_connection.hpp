#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "io/nats/nats_address.hpp"
#include "io/process/worker_thread.hpp"

namespace agw {

/// A connection to NATS that is re-established after each loss. Use it on the loop only; a separate thread writes, so
/// that a slow server blocks no caller.
///
/// Messages of a publisher arrive in the order of sending, across subjects, because one thread delivers them. They are
/// not repeated: a message published while a side is disconnected may be lost.
/// Example: src/io/nats/nats_connection_test.cpp: NatsConnectionTest.MessagesComeInTheOrderOfTheirPublisher
class NatsConnection {
public:
  /// The maximum size of a message in bytes: half of the default limit of servers.
  static constexpr std::size_t max_payload = 512 * 1024;
  /// The maximum number of bytes in the write queue.
  static constexpr std::size_t max_waiting = 64 * 1024 * 1024;

  struct Options {
    NatsAddress address;
    std::string key;                    ///< of the configuration, for messages
    std::string name;                   ///< identifies this client in the server's monitoring
    std::vector<std::string> subjects;  ///< to subscribe to; `>` at the end matches any rest
    /// Receives a message of another connection.
    std::function<void(std::string subject, std::string payload)> on_message;
    /// Called when the connection was lost (false) or established (again).
    std::function<void(bool is_connected)> on_change;
  };

  /// Connects. Blocks for at most three seconds; then retries in the background. Throws StartError (failure) if the
  /// server refuses this client or its certificate is not trusted; the message names the server and the remedy.
  NatsConnection(Loop& loop, Options options);
  /// No callback is called afterwards.
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  bool is_connected() const;

  /// Queues the message for sending. Drops it if it is larger than `max_payload` or the queue is full.
  void publish(std::string subject, std::string payload);

private:
  struct Calls;
  struct Handles;
  struct Message {
    std::string subject;
    std::string payload;
  };

  void subscribe(const std::string& subject);
  void write();

  std::shared_ptr<Calls> calls_;
  std::unique_ptr<Handles> handles_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Message> waiting_;
  std::size_t waiting_size_ = 0;
  bool is_over_ = false;
  std::unique_ptr<WorkerThread> writer_;
};

/// For `agw doctor`: connects and measures the round trip to the server. Throws StartError.
std::chrono::duration<double, std::milli> check_nats(const NatsAddress& address, const std::string& key);

}  // namespace agw
