// Lines from an editor (ACP): each gets at most one response, and responses are lines of JSON. Prompts become texts and
// files; the gateway's events, which quote agents and tools, become updates.

#include <chrono>
#include <vector>

#include "base/json/json_values.hpp"
#include "cli/acp/event_updates.hpp"
#include "cli/acp/prompt_content.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "testing/run.hpp"

namespace {

using namespace agw;
using fuzzing::require;

/// Answers prompts with their own content, and with updates for texts that look like events.
class Answerer : public cli::RpcHandler {
public:
  Task<json::object> answer(std::string, json::object params, cli::RpcCallPointer) override {
    if (const auto* prompt = array_member(params, "prompt")) {
      const auto content = cli::prompt_content(*prompt);
      require(is_utf8(content.text));
    }
    co_return json::object();
  }
  Task<> notified(std::string, json::object params) override {
    cli::EventUpdates updates({.directory = "/home/person"});
    updates.of(params);
    std::vector<json::object> turns;
    for (auto& [name, value] : params) {
      if (value.is_object()) turns.push_back(value.get_object());
    }
    updates.replay(turns);
    co_return;
  }
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json_lines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto lines = fuzzing::text_of(data, size);
  std::size_t sent = 0, taken = 0;
  testing::run([&](Loop& loop) -> Task<> {
    Answerer answerer;
    cli::RpcPeer peer(loop, answerer, [&](const std::string& line) {
      ++sent;
      require(parse_json(line, {.max_depth = max_own_json_depth}).has_value() && line.find('\n') == line.npos);
    });
    while (!lines.empty()) {
      ++taken;
      peer.take(fuzzing::take_line(lines));
    }
    co_await peer.stop(std::chrono::seconds(1));
  });
  require(sent <= taken);
  return 0;
}
