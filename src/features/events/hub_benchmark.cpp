#include "features/events/hub.hpp"

#include <deque>

#include <benchmark/benchmark.h>

#include "base/json/describe.hpp"

namespace agw::example {

struct Note {
  std::string id;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Note, (), (id, text))
const Description& describe(Tag<Note>) { return description_of<Note>("Note"); }

}  // namespace agw::example

namespace agw {
namespace {

/// A client that takes every message and sends it nowhere.
struct Client : Subscriber {
  explicit Client(Hub& hub) : listening(hub, *this) {}
  void deliver(const DomainEvent& event) override { benchmark::DoNotOptimize(event.message()); }
  bool awaits(std::string_view) const override { return true; }
  Hub::Listening listening;
};

const example::Note note{"0197f0c4-6a3e-7d2a-9c3b-5f1e2d3c4b5a", "A note of a few words."};

void publish(benchmark::State& state) {
  Hub hub;
  std::deque<Client> clients;
  for (auto i = state.range(0); i > 0; --i) clients.emplace_back(hub);
  for (auto _ : state)
    hub.publish({.name = "note.created", .type = "note-created", .thread_id = "t", .member = "note", .record = note});
}
BENCHMARK(publish)->Name("Hub.PublishToClients")->Arg(0)->Arg(1)->Arg(100);

/// Serialising the record, which is done once however many clients there are.
void serialize(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(to_json(note));
}
BENCHMARK(serialize)->Name("Hub.PublishToClients/floor");

}  // namespace
}  // namespace agw
