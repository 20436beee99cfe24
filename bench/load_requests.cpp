// load_requests <port> <token> <connections> <seconds> <seed> [count]: sends the requests of standard input in turn,
// one per line (`<method> <path> [body]`), on persistent connections with one request at a time, for `seconds` or until
// `count` have completed. `%40z` in a body stands for 40 words with the frequencies of a language. Any response other
// than 2xx ends it. Prints one JSON object: the `seconds` it took, and the `times` of the responses.
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/net.hpp"
#include "bench/times.hpp"

using namespace agw::bench;

namespace {

/// The requests in order, ready to send.
class Requests {
public:
  Requests(int port, const std::string& token, unsigned seed)
      : head_(" HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nAuthorization: Bearer " + token + "\r\n"),
        random_(seed) {
    for (std::string line; std::getline(std::cin, line);) lines_.push_back(line);
    if (lines_.empty()) fail("no requests on standard input");
  }

  std::string next() {
    const std::string_view line = lines_[position_++ % lines_.size()];
    const auto path_end = line.find(' ', line.find(' ') + 1);
    std::string request = std::string(line.substr(0, path_end)) + head_;
    if (path_end == line.npos) return request + "\r\n";
    const std::string body = with_words(line.substr(path_end + 1));
    return request + "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }

private:
  /// The n-th word of a language is n times less frequent than its first (Zipf's law).
  std::string word() {
    constexpr double vocabulary = 50'000;
    return "w" + std::to_string(static_cast<int>(std::exp(uniform_(random_) * std::log(vocabulary))));
  }

  std::string with_words(std::string_view body) {
    const auto start = body.find('%');
    const auto end = body.find('z', start);
    if (start == body.npos || end == body.npos) return std::string(body);
    int count = 0;
    std::from_chars(body.data() + start + 1, body.data() + end, count);
    std::string text(body.substr(0, start));
    for (int i = 0; i < count; ++i) text += word() + " ";
    return text + std::string(body.substr(end + 1));
  }

  std::string head_;
  std::vector<std::string> lines_;
  std::size_t position_ = 0;
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_;
};

/// The length of the response at the start of `bytes`, or 0 if it is incomplete. Fails unless it is a 2xx.
std::size_t answer_size(std::string_view bytes) {
  const auto head = bytes.find("\r\n\r\n");
  if (head == bytes.npos) return 0;
  errno = 0;
  if (!bytes.starts_with("HTTP/1.1 2")) fail(bytes);
  constexpr std::string_view name = "\r\nContent-Length: ";
  const auto length = bytes.find(name);
  std::size_t size = 0;
  if (length < head) std::from_chars(bytes.data() + length + name.size(), bytes.data() + head, size);
  return head + 4 + size <= bytes.size() ? head + 4 + size : 0;
}

struct Connection {
  int socket;
  std::string in;
  std::int64_t sent = 0;
};

class Load {
public:
  explicit Load(Requests& requests) : requests_(requests) {}

  void connect(int port, int count) {
    for (int i = 0; i < count; ++i) {
      Connection& connection = connections_.emplace_back(connect_to(port));
      poll_.watch(connection.socket, [this, &connection] { receive(connection); });
    }
  }

  /// Returns the duration in seconds.
  double run(double seconds, std::size_t count) {
    const std::int64_t start = now();
    const std::int64_t end = start + static_cast<std::int64_t>(seconds * 1e9);
    count_ = count;
    for (Connection& connection : connections_) send_next(connection);
    while (now() < end && times_.count() < count_) poll_.run_once(100'000'000);
    return static_cast<double>(now() - start) / 1e9;
  }

  Times& times() { return times_; }

private:
  void send_next(Connection& connection) {
    if (sent_ == count_) return;
    ++sent_;
    connection.sent = now();
    send_all(connection.socket, requests_.next());
  }

  void receive(Connection& connection) {
    std::array<char, 65536> buffer;
    const ssize_t size = recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (size <= 0) fail("the server closed the connection");
    connection.in.append(buffer.data(), static_cast<std::size_t>(size));
    const std::size_t response = answer_size(connection.in);
    if (response == 0) return;
    times_.add(static_cast<double>(now() - connection.sent) / 1e9);
    connection.in.erase(0, response);
    send_next(connection);
  }

  Requests& requests_;
  Poll poll_;
  std::deque<Connection> connections_;
  Times times_;
  std::size_t sent_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) fail("usage: load_requests <port> <token> <connections> <seconds> <seed> [count]");
  const int port = std::atoi(arguments[1]);
  Requests requests(port, arguments[2], static_cast<unsigned>(std::atoi(arguments[5])));
  Load load(requests);
  load.connect(port, std::atoi(arguments[3]));
  // With this policy, a response does not preempt the program that sent it and has more to send.
  const sched_param none{};
  check(sched_setscheduler(0, SCHED_BATCH, &none), "SCHED_BATCH");
  const std::size_t wanted =
      count > 6 ? std::strtoull(arguments[6], nullptr, 10) : std::numeric_limits<std::size_t>::max();
  const double seconds = load.run(std::atof(arguments[4]), wanted);
  std::printf("{\"seconds\": %f, \"times\": %s}\n", seconds, load.times().to_json().c_str());
}
