// load_chat <port> <token> <model> <readers> [port of another node, to which the WebSockets go]
//
// Sends one message to each thread, whose ids are the lines of standard input. The i-th WebSocket receives the events
// of the (i modulo threads)-th thread. Ends when each has received the end of its run.
//
// load_chat <port> --direct <model> <streams> [token]
//
// The baseline: reads the same answers directly from bench/upstream.cpp, or with a token from the gateway's Chat
// Completions, as programs do.
//
// Prints one JSON object: `delays` (of each delta at each reader), `runs` (from the request to the end), in seconds,
// and `lost` (readers that were disconnected).
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/net.hpp"
#include "bench/times.hpp"
#include "bench/websocket.hpp"

using namespace agw::bench;

namespace {

struct Figures {
  Times delays;
  Times runs;
  int waiting = 0;
  int lost = 0;
};

double seconds_since(std::int64_t start) { return static_cast<double>(now() - start) / 1e9; }

void wait_for_all(Poll& poll, const Figures& figures) {
  const std::int64_t limit = now() + 120'000'000'000;
  while (figures.waiting > 0) {
    poll.run_once(1'000'000'000);
    if (now() > limit) fail(std::to_string(figures.waiting) + " readers saw no end within 120 s");
  }
}

std::string post(int port, std::string_view path, const std::string& token, const std::string& body) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\nAuthorization: Bearer " + token +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A WebSocket that receives the events of one thread.
class Reader {
public:
  Reader(Poll& poll, Figures& figures, int port, const std::string& token, const std::string& thread_id)
      : poll_(poll), figures_(figures), socket_(port, token) {
    socket_.send_text(R"({"type":"subscribe","threadId":")" + thread_id + R"("})");
    poll_.watch(socket_.socket(), [this] {
      if (!socket_.read([this](std::string_view text) { take(text); })) end(true);
    });
  }

  bool subscribed() const { return subscribed_; }
  void started() { start_ = now(); }

private:
  void take(std::string_view text) {
    const auto is = [&](std::string_view type) { return text.find(type) != text.npos; };
    if (is(R"("type":"text-delta")")) {
      collect_delays(text, figures_.delays);
    } else if (is(R"("type":"subscribed")")) {
      subscribed_ = true;
    } else if (is(R"("type":"error")")) {
      errno = 0;
      fail("the run failed: " + std::string(text));
    } else if (is(R"("type":"finish")")) {
      figures_.runs.add(seconds_since(start_));
      end(false);
    }
  }

  void end(bool lost) {
    if (ended_) return;
    ended_ = true;
    --figures_.waiting;
    if (lost) {
      ++figures_.lost;
      poll_.forget(socket_.socket());
    }
  }

  Poll& poll_;
  Figures& figures_;
  WebSocket socket_;
  std::int64_t start_ = 0;
  bool subscribed_ = false;
  bool ended_ = false;
};

/// Fails unless POST /chat returns 201.
void check_created(int connection) {
  std::array<char, 4096> buffer;
  const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
  errno = 0;
  const std::string_view answer(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!answer.starts_with("HTTP/1.1 201")) fail("POST /chat: " + std::string(answer));
}

void measure_gateway(int port, int readers_port, const std::string& token, const std::string& model, int count,
                     Figures& figures) {
  std::vector<std::string> threads;
  for (std::string id; std::getline(std::cin, id);) threads.push_back(id);

  Poll poll;
  std::deque<Reader> readers;
  for (int i = 0; i < count; ++i) {
    readers.emplace_back(poll, figures, readers_port, token, threads[static_cast<std::size_t>(i) % threads.size()]);
  }
  figures.waiting = count;
  for (const Reader& reader : readers) {
    while (!reader.subscribed()) poll.run_once(-1);
  }

  std::vector<int> connections;
  connections.reserve(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) connections.push_back(connect_to(port));
  for (Reader& reader : readers) reader.started();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    send_all(connections[i], post(port, "/chat", token,
                                  R"({"content":"go","threadId":")" + threads[i] + R"(","model":")" + model + R"("})"));
    poll.watch(connections[i], [&poll, connection = connections[i]] {
      check_created(connection);
      poll.forget(connection);
    });
  }
  wait_for_all(poll, figures);
}

void measure_upstream(int port, const std::string& token, const std::string& model, int count, Figures& figures) {
  const std::string body = R"({"model":")" + model + R"(","stream":true,"messages":[{"role":"user","content":"go"}]})";
  Poll poll;
  std::deque<std::string> rest;
  for (int i = 0; i < count; ++i) {
    const int connection = connect_to(port);
    send_all(connection, post(port, "/v1/chat/completions", token, body));
    poll.watch(connection, [&figures, &poll, connection, start = now(), &text = rest.emplace_back()] {
      std::array<char, 65536> buffer;
      const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
      if (size <= 0) fail("the stream ended too early: " + text);
      text.append(buffer.data(), static_cast<std::size_t>(size));
      text.erase(0, collect_delays(text, figures.delays));
      if (text.find("[DONE]") == std::string::npos) return;
      figures.runs.add(seconds_since(start));
      --figures.waiting;
      poll.forget(connection);
    });
  }
  figures.waiting = count;
  wait_for_all(poll, figures);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5 && count != 6)
    fail("usage: load_chat <port> <token>|--direct <model> <readers> [port of readers|token]");
  raise_file_limit();
  const int port = std::atoi(arguments[1]);
  const std::string token = arguments[2];
  Figures figures;
  if (token == "--direct") {
    measure_upstream(port, count == 6 ? arguments[5] : "-", arguments[3], std::atoi(arguments[4]), figures);
  } else {
    measure_gateway(port, count == 6 ? std::atoi(arguments[5]) : port, token, arguments[3], std::atoi(arguments[4]),
                    figures);
  }
  std::printf("{\"delays\": %s, \"runs\": %s, \"lost\": %d}\n", figures.delays.to_json().c_str(),
              figures.runs.to_json().c_str(), figures.lost);
}
