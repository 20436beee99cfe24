#include "api/body.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

TEST(WorkOnBody, LeavesTheLoopForALargeBody) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool workers(loop);
    Request request;
    const auto thread_of_work = [&request] {
      return work_on_body(request, [&request] {
        EXPECT_EQ(request.body_object().at("a"), 1);
        return std::this_thread::get_id();
      });
    };
    request.content = R"({"a": 1})";
    EXPECT_EQ(co_await thread_of_work(), std::this_thread::get_id());
    request.workers = &workers;
    EXPECT_NE(co_await thread_of_work(), std::this_thread::get_id());
    request.content = "[]";
    EXPECT_THROW(co_await thread_of_work(), BadRequest);
  });
}

}  // namespace
}  // namespace agw
