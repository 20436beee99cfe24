#include "io/http/request_parser.hpp"

#include <string>

#include <benchmark/benchmark.h>

namespace agw {
namespace {

constexpr std::string_view request =
    "POST /threads/0197f0c4-6a3e-7d2a-9c3b-5f1e2d3c4b5a/turns HTTP/1.1\r\n"
    "Host: 127.0.0.1:7420\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0\r\n"
    "Accept: application/json\r\n"
    "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 41\r\n"
    "\r\n"
    R"({"role": "user", "content": "A question"})";
constexpr std::size_t body_limit = 1024;

void head_and_body(benchmark::State& state) {
  RequestParser parser;
  for (auto _ : state) {
    parser.reset();
    auto rest = request;
    rest.remove_prefix(parser.put(rest));
    parser.collect_body(body_limit);
    rest.remove_prefix(parser.put(rest));
    benchmark::DoNotOptimize(parser.take_body());
  }
}
BENCHMARK(head_and_body)->Name("RequestParser.HeadAndBody");

/// The least that any parser does: finds the lines, and copies the body.
void lines_and_body(benchmark::State& state) {
  for (auto _ : state) {
    std::size_t at = 0;
    for (std::size_t end = 0; (end = request.find("\r\n", at)) != at; at = end + 2) benchmark::DoNotOptimize(end);
    benchmark::DoNotOptimize(std::string(request.substr(at + 2)));
  }
}
BENCHMARK(lines_and_body)->Name("RequestParser.HeadAndBody/floor");

}  // namespace
}  // namespace agw
