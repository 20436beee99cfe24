#include "features/integrations/http_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(HttpTransport, HidesInEachProblemTheSecretsOfItsOwnRequest) {
  testing::run([](Loop& loop) -> Task<> {
    HttpClient http(loop);
    int requests = 0;
    const auto address = [&requests]() -> Task<ServiceAddress> {
      ServiceAddress filled{.url = *WebUrl::parse("http://127.0.0.1:1/")};
      if (++requests == 1) filled.secrets.add("127.0.0.1");
      co_return filled;
    };
    const auto on_refusal = [](McpRefusal) -> Task<bool> { co_return false; };
    HttpTransport transport(loop, http, {"server", false, address, on_refusal});
    std::vector<std::string> problems(2);
    TaskGroup group(loop);
    for (auto& problem : problems) {
      group.spawn([](HttpTransport& asked, std::string& problem) -> Task<> {
        StopSource stop;
        problem = (co_await asked.send_request({.method = "ping"}, stop)).problem;
      }(transport, problem));
    }
    co_await group.join();
    EXPECT_THAT(problems[0], HasSubstr("[secret]"));
    EXPECT_THAT(problems[1], HasSubstr("127.0.0.1"));
    co_await transport.close(100ms);
  });
}

}  // namespace
}  // namespace agw
