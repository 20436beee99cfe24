// A complete session with an MCP server, whose responses are the lines of the input: it opens, or reports an error, and
// its tools return valid text.

#include <memory>
#include <string>
#include <utility>

#include "base/async/async_event.hpp"
#include "features/integrations/session.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "testing/run.hpp"

namespace {

using namespace agw;

class Answers : public McpTransport {
public:
  Answers(Loop& loop, std::string_view lines) : lines_(lines), dead_(loop) {}

  Task<std::string> open(StopSource&) override { co_return ""; }
  Task<RpcResponse> send_request(RpcRequest, StopSource&) override {
    if (lines_.empty()) co_return RpcResponse{.problem = "it says nothing"};
    auto message = read_rpc(fuzzing::take_line(lines_));
    if (message.kind == RpcMessage::Kind::notification) on_notice_(message);
    if (message.kind == RpcMessage::Kind::request) on_request_(message);
    co_return RpcResponse{.result = std::move(message.result), .error = std::move(message.error)};
  }
  Task<> notify(std::string, json::object) override { co_return; }
  void set_protocol(McpEra, std::string) override {}
  void respond(json::object) override {}
  Task<std::string> wait_for_failure() override {
    co_await dead_.wait();
    co_return "it ended";
  }
  Task<> close(std::chrono::milliseconds) override {
    dead_.notify();
    co_return;
  }

private:
  std::string_view lines_;
  AsyncEvent dead_;
};

Task<> use(McpSession& session) {
  StopSource stop;
  const auto problem = co_await session.open({}, stop);
  if (problem.empty()) {
    for (const auto& tool : session.tools()) {
      fuzzing::require(!tool.name.empty() && is_utf8(tool.name) && is_utf8(tool.description));
    }
    const auto name = session.tools().empty() ? std::string("none") : session.tools().front().name;
    const auto called = co_await session.call(name, {}, stop);
    fuzzing::require(is_utf8(called.outcome.output));
  }
  fuzzing::require(is_utf8(problem));
  co_await session.close(std::chrono::milliseconds(0));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json_lines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto lines = agw::fuzzing::text_of(data, size);
  agw::testing::run([&](agw::Loop& loop) -> agw::Task<> {
    agw::McpSession session(loop, "fuzzed", std::make_unique<Answers>(loop, lines));
    co_await use(session);
  });
  return 0;
}
