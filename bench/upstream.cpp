// A model service for measurements: OpenAI's Chat Completions, streamed. The model's name specifies the answer:
// `50x400` means 50 deltas a second, 400 in total; any other name returns one delta. The text of each delta is `@<now>
// `, so that the reader can compute the delay. Prints its port.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <list>
#include <string>
#include <string_view>

#include "bench/net.hpp"

using namespace agw::bench;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// A persistent connection, and the answer being streamed on it.
struct Connection {
  int socket = -1;
  std::string in;
  std::string out;
  std::int64_t interval = 0;
  std::int64_t due = 0;
  int deltas_left = 0;  ///< 0: no active answer
};

std::string chunk(std::string_view data) {
  std::array<char, 16> size;
  std::snprintf(size.data(), size.size(), "%zx", data.size() + 8);
  return std::string(size.data()) + "\r\ndata: " + std::string(data) + "\n\n\r\n";
}

std::string delta_chunk(std::string_view text) {
  return chunk(R"({"id":"bench","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":")" +
               std::string(text) + R"("},"finish_reason":null}]})");
}

const std::string& last_chunks() {
  static const std::string chunks =
      chunk(
          R"({"id":"bench","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})") +
      chunk(
          R"({"id":"bench","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})") +
      chunk("[DONE]") + "0\r\n\r\n";
  return chunks;
}

/// Returns the number after `name`, or `otherwise`.
int number_after(std::string_view text, std::string_view name, int otherwise) {
  const auto at = text.find(name);
  int value = otherwise;
  if (at != text.npos) std::from_chars(text.data() + at + name.size(), text.data() + text.size(), value);
  return value;
}

void begin_response(Connection& connection, std::string_view body) {
  const auto model = body.find(R"("model":")");
  const std::string_view name = model == body.npos ? "" : body.substr(model, body.find('"', model + 9) - model);
  const int rate = number_after(name, R"("model":")", 1);
  connection.interval = second / std::max(rate, 1);
  connection.deltas_left = number_after(name, "x", 1);
  // Streams that begin at the same time are not synchronous at a real service.
  static std::int64_t responds = 0;
  connection.due = now() + connection.interval * (++responds * 618 % 1000) / 1000;
  connection.out += "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
}

/// Removes a complete request from the received bytes, if there is one.
void take_request(Connection& connection) {
  const auto head = connection.in.find("\r\n\r\n");
  if (head == std::string::npos) return;
  std::string names = connection.in.substr(0, head);
  std::ranges::transform(names, names.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto size = static_cast<std::size_t>(number_after(names, "content-length: ", 0));
  if (names.find("expect: 100-continue") != std::string::npos)
    send_all(connection.socket, "HTTP/1.1 100 Continue\r\n\r\n");
  if (connection.in.size() < head + 4 + size) return;
  begin_response(connection, std::string_view(connection.in).substr(head + 4, size));
  connection.in.erase(0, head + 4 + size);
}

/// Writes the deltas that are due. Bytes that the peer does not accept yet are kept, with their original time.
void advance(Connection& connection, std::int64_t time) {
  while (connection.deltas_left > 0 && connection.due <= time) {
    connection.out += delta_chunk("@" + std::to_string(now()) + " ");
    connection.due += connection.interval;
    if (--connection.deltas_left == 0) connection.out += last_chunks();
  }
  if (connection.out.empty()) return;
  const ssize_t sent =
      send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) connection.out.erase(0, static_cast<std::size_t>(sent));
}

class Upstream {
public:
  int start() {
    const int listener = listen_on_loopback();
    poll_.watch(listener, [this, listener] { accept_one(listener); });
    return port_of(listener);
  }

  void run_once() {
    std::int64_t next = now() + second;
    for (const Connection& connection : connections_) {
      if (connection.deltas_left > 0) next = std::min(next, connection.due);
      if (!connection.out.empty()) next = std::min(next, now() + second / 1000);
    }
    poll_.run_once(std::max<std::int64_t>(next - now(), 0));
    const std::int64_t time = now();
    for (Connection& connection : connections_) advance(connection, time);
  }

private:
  void accept_one(int listener) {
    const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (socket < 0) return;
    // Otherwise a second small write waits for the client's delayed acknowledgement, 40 ms.
    const int yes = 1;
    check(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), "TCP_NODELAY");
    connections_.emplace_front().socket = socket;
    poll_.watch(socket, [this, connection = connections_.begin()] { receive(connection); });
  }

  void receive(std::list<Connection>::iterator connection) {
    std::array<char, 65536> buffer;
    const ssize_t size = recv(connection->socket, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      poll_.forget(connection->socket);
      close(connection->socket);
      connections_.erase(connection);
      return;
    }
    connection->in.append(buffer.data(), static_cast<std::size_t>(size));
    take_request(*connection);
  }

  Poll poll_;
  std::list<Connection> connections_;
};

}  // namespace

int main() {
  raise_file_limit();
  Upstream upstream;
  std::printf("%d\n", upstream.start());
  std::fflush(stdout);
  while (true) upstream.run_once();
}
