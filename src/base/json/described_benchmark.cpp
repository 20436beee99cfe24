#include "base/json/described.hpp"

#include <string>

#include <benchmark/benchmark.h>
#include <boost/json.hpp>

#include "base/json/describe.hpp"

namespace agw::example {

struct Message {
  std::string id;
  std::string text;
  std::int64_t number = 0;
  std::optional<std::string> parent;
  std::vector<std::string> tags;
};
BOOST_DESCRIBE_STRUCT(Message, (), (id, text, number, parent, tags))
const Description& describe(Tag<Message>) { return description_of<Message>("Message"); }

}  // namespace agw::example

namespace agw {
namespace {

using example::Message;

const std::string text =
    R"({"id":"0197f0c4-6a3e-7d2a-9c3b-5f1e2d3c4b5a","text":"A message of a few words, with \"quotes\" and an ü.",)"
    R"("number":12345,"parent":null,"tags":["one","two","three"]})";

Message read() {
  Message message;
  Problems problems;
  read_described(parse_json(text)->get_object(), describe(Tag<Message>{}), &message, "", problems);
  return message;
}

void read_message(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(read());
}
BENCHMARK(read_message)->Name("Described.Read");

void parse_only(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(boost::json::parse(text));
}
BENCHMARK(parse_only)->Name("Described.Read/floor");

void write_message(benchmark::State& state) {
  const auto message = read();
  for (auto _ : state) benchmark::DoNotOptimize(to_json(message));
}
BENCHMARK(write_message)->Name("Described.Write");

void serialize_value(benchmark::State& state) {
  const auto value = boost::json::parse(text);
  for (auto _ : state) benchmark::DoNotOptimize(boost::json::serialize(value));
}
BENCHMARK(serialize_value)->Name("Described.Write/floor");

}  // namespace
}  // namespace agw
