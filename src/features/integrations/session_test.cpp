#include "features/integrations/session.hpp"

#include <fmt/format.h>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/integrations/pending.hpp"
#include "features/integrations/results.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json::object object(std::string_view text) { return parse_json(text)->as_object(); }

/// A server in the same process. Responds by method and records the requests.
class ScriptedTransport : public McpTransport {
public:
  explicit ScriptedTransport(Loop& loop) : failed_(loop) {}

  Task<std::string> open(StopSource&) override { co_return ""; }
  Task<RpcResponse> send_request(RpcRequest request, StopSource&) override {
    asked.push_back(request.method);
    if (before_answer) co_await before_answer(request.method);
    const auto found = responds.find(request.method);
    if (found == responds.end()) co_return RpcResponse{.error = RpcError{-32601, "Method not found", {}}};
    co_return found->second(request);
  }
  bool sends_headers() const override { return true; }
  Task<> notify(std::string method, json::object) override {
    asked.push_back(method);
    co_return;
  }
  void set_protocol(McpEra era, std::string version) override { spoken = {era, version}; }
  void respond(json::object) override {}
  Task<std::string> wait_for_failure() override {
    co_await failed_.wait();
    co_return "it ended";
  }
  Task<> close(std::chrono::milliseconds) override {
    failed_.notify();
    co_return;
  }

  void notify_of_change() { on_notice_({.method = "notifications/tools/list_changed"}); }

  std::map<std::string, std::function<RpcResponse(const RpcRequest&)>> responds;
  std::function<Task<>(std::string method)> before_answer;
  std::vector<std::string> asked;
  std::pair<McpEra, std::string> spoken{McpEra::legacy, ""};

private:
  AsyncEvent failed_;
};

struct McpRoom {
  explicit McpRoom(Loop& loop) {
    auto made = std::make_unique<ScriptedTransport>(loop);
    transport = made.get();
    session = std::make_unique<McpSession>(loop, "server", std::move(made));
  }
  void responds(const std::string& method, std::string_view result) {
    transport->responds[method] = [result = object(result)](const RpcRequest&) {
      return RpcResponse{.result = result};
    };
  }
  void fails(const std::string& method, RpcError error) {
    transport->responds[method] = [error](const RpcRequest&) { return RpcResponse{.error = error}; };
  }

  StopSource stop;
  ScriptedTransport* transport = nullptr;
  std::unique_ptr<McpSession> session;
};

void in_room(std::function<Task<>(McpRoom&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    McpRoom room(loop);
    co_await body(room);
  });
}

TEST(McpSession, SpeaksTheModernProtocolWhereTheServerDoes) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("server/discover", R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})");
    room.responds("tools/list", R"({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})");
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_THAT(room.transport->asked, ElementsAre("server/discover", "tools/list"));
    EXPECT_EQ(room.session->era(), McpEra::modern);
    EXPECT_EQ(room.session->tools().size(), 1u);
  });
}

TEST(McpSession, FallsBackToTheHandshake) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("initialize", R"({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}})");
    room.responds("tools/list", R"({"tools": []})");
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_THAT(room.transport->asked,
                ElementsAre("server/discover", "initialize", "notifications/initialized", "tools/list"));
    EXPECT_EQ(room.transport->spoken.second, "2025-06-18");
  });
}

TEST(McpSession, WaitsForAServerThatIsDownloadedFirst) {
  in_room([](McpRoom& room) -> Task<> {
    auto limit = 0ms;
    room.transport->responds["initialize"] = [&limit](const RpcRequest& request) {
      limit = request.limit;
      return RpcResponse{.problem = "no answer", .timed_out = true};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "no answer");
    EXPECT_GE(limit, 2min);
  });
}

TEST(McpSession, RemembersHowTheServerSpoke) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("initialize", R"({"protocolVersion": "2025-11-25", "capabilities": {}})");
    EXPECT_EQ(co_await room.session->open(McpEra::legacy, room.stop), "");
    EXPECT_THAT(room.transport->asked, ElementsAre("initialize", "notifications/initialized"));
  });
}

TEST(McpSession, AsksAModernServerAgainThatWasTooSlowToStart) {
  in_room([](McpRoom& room) -> Task<> {
    room.transport->responds["server/discover"] = [&](const RpcRequest&) {
      room.responds("server/discover", R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})");
      return RpcResponse{.timed_out = true};
    };
    room.fails("initialize", {-32022, "Unsupported protocol version", object(R"({"supported": ["2026-07-28"]})")});
    room.responds("tools/list", R"({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})");
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_THAT(room.transport->asked, ElementsAre("server/discover", "initialize", "server/discover", "tools/list"));
    EXPECT_EQ(room.session->era(), McpEra::modern);
    EXPECT_EQ(room.transport->spoken.first, McpEra::modern);
    EXPECT_EQ(room.session->tools().size(), 1u);
  });
}

TEST(McpSession, RefusesRevisionsThatItDoesNotSpeak) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("initialize", R"({"protocolVersion": "1999-01-01", "capabilities": {}})");
    EXPECT_THAT(co_await room.session->open({}, room.stop), HasSubstr("1999-01-01"));
    room.fails("server/discover", {-32022, "Unsupported", object(R"({"supported": ["2030-01-01"]})")});
    EXPECT_THAT(co_await room.session->open({}, room.stop), HasSubstr("1999-01-01"));
    room.fails("server/discover", {-32022, "Unsupported", object(R"({"supported": ["2026-07-28"]})")});
    EXPECT_THAT(co_await room.session->open({}, room.stop), HasSubstr("Unsupported"));
  });
}

TEST(McpSession, TakesNoMoreToolsThanItCanHold) {
  in_room([](McpRoom& room) -> Task<> {
    int pages = 0;
    room.responds("initialize", R"({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})");
    room.transport->responds["tools/list"] = [&](const RpcRequest&) {
      json::array tools;
      for (int i = 0; i < 20; ++i) tools.push_back({{"name", fmt::format("tool{}", pages * 20 + i)}});
      return RpcResponse{.result = {{"tools", tools}, {"nextCursor", std::to_string(++pages)}}};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_EQ(room.session->tools().size(), 500u);
  });
}

TEST(McpSession, CallsToolsWhileItListsThemAgain) {
  testing::run([](Loop& loop) -> Task<> {
    McpRoom room(loop);
    std::vector<std::string> headers;
    room.responds("server/discover",
                  R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}}})");
    room.responds(
        "tools/list",
        R"({"tools": [{"name": "a", "inputSchema": {"properties": {"p": {"type": "string", "x-mcp-header": "P"}}}}]})");
    room.transport->responds["tools/call"] = [&](const RpcRequest& request) {
      for (const auto& [name, value] : request.headers) headers.push_back(name + ": " + value);
      return RpcResponse{};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    room.transport->before_answer = [&room](std::string method) -> Task<> {
      if (method != "tools/list") co_return;
      EXPECT_EQ(room.session->tools().size(), 1u);
      StopSource none;
      co_await room.session->call("a", {{"p", "x"}}, none);
      room.stop.request();
    };
    room.transport->notify_of_change();
    co_await room.session->run(room.stop, [] {});
    EXPECT_THAT(headers, ElementsAre("Mcp-Param-P: x"));
  });
}

TEST(McpSession, LeavesOutToolsWithInvalidMarks) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("server/discover", R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})");
    room.responds("tools/list", R"({"tools": [
        {"name": "bad", "inputSchema": {"properties": {"p": {"type": "string", "x-mcp-header": "A B"}}}},
        {"name": "good", "inputSchema": {"properties": {"p": {"type": "string", "x-mcp-header": "AB"}}}}]})");
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_THAT(room.session->tools(), ElementsAre(::testing::Field(&OfferedTool::name, "good")));
  });
}

TEST(McpSession, RepeatsACallThatLackedAHeader) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("server/discover", R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})");
    room.responds("tools/list", R"({"tools": [{"name": "a", "inputSchema": {"properties": {"p": {}}}}]})");
    std::vector<std::size_t> headers;
    room.transport->responds["tools/call"] = [&](const RpcRequest& request) {
      headers.push_back(request.headers.size());
      room.responds("tools/list", R"({"tools": [
          {"name": "a", "inputSchema": {"properties": {"p": {"type": "string", "x-mcp-header": "P"}}}}]})");
      if (request.headers.empty()) return RpcResponse{.error = RpcError{-32020, "Header mismatch", {}}};
      return RpcResponse{.result = object(R"({"content": [{"type": "text", "text": "done"}]})")};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    const auto result = co_await room.session->call("a", {{"p", "x"}}, room.stop);
    EXPECT_EQ(result.outcome.output, "done");
    EXPECT_THAT(headers, ElementsAre(0, 1));
  });
}

TEST(McpSession, RepeatsACallOnlyOnce) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("server/discover", R"({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})");
    room.responds("tools/list", R"({"tools": [{"name": "a", "inputSchema": {}}]})");
    int calls = 0;
    room.transport->responds["tools/call"] = [&](const RpcRequest&) {
      ++calls;
      return RpcResponse{.error = RpcError{-32020, "Header mismatch", {}}};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_TRUE((co_await room.session->call("a", {}, room.stop)).outcome.is_error);
    EXPECT_EQ(calls, 2);
  });
}

TEST(McpSession, SkipsInvalidTools) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("initialize", R"({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})");
    room.responds("tools/list",
                  R"({"tools": [1, {}, {"name": 5}, {"name": ""}, {"name": "a b"}, {"name": "ok"}, {"name": "ok"},
                                             {"name": "odd", "inputSchema": [], "description": 5}]})");
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_EQ(room.session->tools().size(), 2u);
    EXPECT_EQ(to_json(room.session->tools().at(1).input_schema), R"({"type":"object"})");
  });
}

TEST(McpSession, LeavesOutASchemaThatIsTooLargeOrTooDeep) {
  in_room([](McpRoom& room) -> Task<> {
    room.responds("initialize", R"({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})");
    room.transport->responds["tools/list"] = [](const RpcRequest&) {
      json::value deep;
      for (int level = 0; level < 80; ++level) deep = json::object{{"items", deep}};
      json::object large{{"x", std::string(100'000, 'x')}};
      return RpcResponse{.result = {{"tools", json::array{json::object{{"name", "a"}, {"inputSchema", large}},
                                                          json::object{{"name", "b"}, {"inputSchema", deep}}}}}};
    };
    EXPECT_EQ(co_await room.session->open({}, room.stop), "");
    EXPECT_EQ(to_json(room.session->tools().at(0).input_schema), R"({"type":"object"})");
    EXPECT_EQ(to_json(room.session->tools().at(1).input_schema), R"({"type":"object"})");
  });
}

TEST(ToolNames, FitWhatProvidersTake) {
  EXPECT_EQ(tool_name_of("github", "repos.list/all"), "github__repos_list_all");
  const auto first = tool_name_of("github", std::string(100, 'a') + "1");
  const auto second = tool_name_of("github", std::string(100, 'a') + "2");
  EXPECT_EQ(first.size(), 64u);
  EXPECT_NE(first, second);
  EXPECT_EQ(tool_name_of(std::string(64, 'i'), "x").size(), 64u);
}

TEST(ToolOutcomes, AreTexts) {
  EXPECT_EQ(
      tool_outcome(
          object(R"({"content": [{"type": "text", "text": "a"}, 5, {"type": "odd"}, {"type": "text", "text": "b"}]})"))
          .output,
      "a\nb");
  EXPECT_EQ(tool_outcome(object(R"({"content": [], "structuredContent": {"x": 1}})")).output, R"({"x":1})");
  EXPECT_TRUE(tool_outcome(object(R"({"content": [{"type": "text", "text": "a"}], "isError": true})")).is_error);
  EXPECT_TRUE(tool_outcome(object(R"({"resultType": "input_required"})")).is_error);
  EXPECT_EQ(tool_outcome({}).output, "");
}

TEST(RpcMessages, AreReadWhateverTheirTextsContain) {
  const auto latin1 = read_rpc("{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"a\": \"caf\xE9\"}}");
  EXPECT_EQ(to_json(latin1.result), "{\"a\":\"caf\xEF\xBF\xBD\"}");
  const auto cut = read_rpc(R"({"jsonrpc": "2.0", "id": 1, "result": {"a": "\ud83d"}})");
  EXPECT_EQ(to_json(cut.result), "{\"a\":\"\xEF\xBF\xBD\"}");
  EXPECT_EQ(read_rpc("[info] listening").kind, RpcMessage::Kind::invalid);
}

TEST(RpcMessages, WithAnUnusableResultEndTheCall) {
  const auto deep = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  const auto response = [](const std::string& members) { return read_rpc(R"({"jsonrpc": "2.0", )" + members + "}"); };
  for (const auto& members : {R"("result": {"a": NaN, "id": 8, "b": "}\""}, "id": 7)", R"("id" : 7 , "result": {"a)"}) {
    EXPECT_EQ(response(members).id, 7) << members;
    EXPECT_THAT(response(members).error->message, HasSubstr("its answer is no JSON")) << members;
  }
  EXPECT_EQ(response(R"("id": 7, "result": {"a": )" + deep(200) + "}").error->code, -32700);
  EXPECT_EQ(response(R"("id": 7)").error->message, "its answer has neither a result nor an error");
  EXPECT_FALSE(response(R"("id": 7, "result": {"a": )" + deep(100) + "}").error);
  for (const auto& members : {R"("id": 7, "method": "elicitation/create", "params": NaN)", R"("result": NaN)"}) {
    EXPECT_EQ(response(members).kind, RpcMessage::Kind::invalid) << members;
  }
  EXPECT_EQ(read_rpc(R"({"level": NaN, "id": 7})").kind, RpcMessage::Kind::invalid);
}

TEST(PendingRequests, WaitAndGiveUp) {
  testing::run([](Loop& loop) -> Task<> {
    PendingRequests pending(loop);
    StopSource stop;
    PendingRequests::Waiting waiting(pending, pending.next_id());
    const auto late = co_await waiting.response(10ms, 1min, stop);
    EXPECT_TRUE(late.timed_out);
    EXPECT_FALSE(pending.take(read_rpc(R"({"jsonrpc": "2.0", "id": "other", "result": {}})")));
    EXPECT_TRUE(pending.take(read_rpc(R"({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}})")));
    EXPECT_EQ(to_json((co_await waiting.response(1min, 1min, stop)).result), R"({"a":1})");
    pending.fail_all("it ended");
    PendingRequests::Waiting too_late(pending, pending.next_id());
    EXPECT_EQ((co_await too_late.response(1min, 1min, stop)).problem, "it ended");
  });
}

}  // namespace
}  // namespace agw
