#include "features/client_tools/service.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "api/request.hpp"
#include "base/json/json_values.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// The socket of a program that offers its tools and then fails.
class FailingSocket : public MessageSocket {
public:
  Task<std::optional<std::string>> read() override {
    if (std::exchange(has_offered_, true)) throw std::runtime_error("lost");
    co_return R"({"type": "offer", "tools": [{"name": "Look", "input_schema": {}}]})";
  }
  void send(std::string_view text) override {
    const auto message = parse_json(text)->get_object();
    if (string_member(message, "type") == "offered") id = string_or_empty(message, "id");
    if (when_offered) lent = when_offered(id);
    ++sent;
  }
  StopSource& stop_source() override { return stop_; }

  std::function<std::shared_ptr<RunClient>(const std::string& id)> when_offered;
  std::shared_ptr<RunClient> lent;
  std::string id;
  int sent = 0;

private:
  StopSource stop_;
  bool has_offered_ = false;
};

TEST(ClientTools, AreNotAskedAfterTheirSocketHasFailed) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool blocking(loop);
    ClientTools tools(blocking);
    FailingSocket socket;
    socket.when_offered = [&tools](const std::string& id) { return tools.lend(id); };
    Request request;
    bool has_failed = false;
    try {
      co_await tools.serve(request, socket);
    } catch (const std::runtime_error&) {
      has_failed = true;
    }
    EXPECT_TRUE(has_failed);
    EXPECT_ANY_THROW(tools.lend(socket.id));
    socket.lent->call({{"call", "Look", {}}});
    StopSource stop;
    EXPECT_TRUE((co_await socket.lent->result("call", stop)).is_error);
    EXPECT_EQ(socket.sent, 1);
  });
}

}  // namespace
}  // namespace agw
