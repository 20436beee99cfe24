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

/// A connection to NATS that is re-established whenever it is lost. On the loop; a separate thread writes, so that a
/// slow server delays nobody.
///
/// Messages come in the order in which their publisher sent them, across subjects, because one thread hands them over.
/// None is sent a second time: what is published while nobody is connected may be lost.
/// Example: src/io/nats/nats_connection_test.cpp: NatsConnectionTest.MessagesComeInTheOrderOfTheirPublisher
class NatsConnection {
public:
  /// The largest message, in bytes: half of what servers take by default.
  static constexpr std::size_t max_payload = 512 * 1024;
  /// Bytes that may wait to be written.
  static constexpr std::size_t max_waiting = 64 * 1024 * 1024;

  struct Options {
    NatsAddress address;
    std::string key;                    ///< of the configuration, for messages
    std::string name;                   ///< by which the server's monitoring knows this client
    std::vector<std::string> subjects;  ///< that are heard; `>` at the end stands for any rest
    /// A message that this connection has not sent itself.
    std::function<void(std::string subject, std::string payload)> on_message;
    /// The connection was lost (false), or made (again).
    std::function<void(bool is_connected)> on_change;
  };

  /// Connects. Blocks for at most three seconds; a server that is not there is then tried again and again. Throws
  /// StartError (failure) if the server refuses this client, or its certificate is not trusted: the message names the
  /// server and what to do.
  NatsConnection(Loop& loop, Options options);
  /// Nothing is called afterwards.
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  bool is_connected() const;

  /// Sends it soon, unless it is larger than `max_payload`, or too much waits.
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

/// For `agw doctor`: connects and asks for an answer. Returns how long that took. Throws StartError.
std::chrono::duration<double, std::milli> check_nats(const NatsAddress& address, const std::string& key);

}  // namespace agw
