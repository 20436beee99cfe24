#include "storage/job.hpp"

#include <sqlite3.h>

#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

namespace {

template <class Handler>
class AwaitedJob : public Job {
public:
  AwaitedJob(Loop& loop, Work work, Handler handler) : Job(loop, std::move(work)), handler_(std::move(handler)) {}
  void answer() override { std::move(handler_)(take_failure()); }

private:
  Handler handler_;
};

}  // namespace

void Job::run(Connection& connection) {
  failure_ = nullptr;
  try {
    work_(connection);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void answer(Loop& loop, Jobs jobs) {
  asio::post(loop, [jobs = std::move(jobs)] {
    for (const auto& job : jobs) job->answer();
  });
}

void refuse(Loop& loop, std::unique_ptr<Job> job) {
  refuse(loop, std::move(job), std::make_exception_ptr(DatabaseError(SQLITE_ABORT, "the database is closed")));
}

void refuse(Loop& loop, std::unique_ptr<Job> job, std::exception_ptr failure) {
  job->fail(std::move(failure));
  Jobs jobs;
  jobs.push_back(std::move(job));
  answer(loop, std::move(jobs));
}

Task<> wait_for(Loop& loop, Job::Work work, std::function<void(std::unique_ptr<Job>)> queue) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [&loop, work = std::move(work), queue = std::move(queue)](auto handler) mutable {
        queue(std::make_unique<AwaitedJob<decltype(handler)>>(loop, std::move(work), std::move(handler)));
      },
      asio::use_awaitable);
}

}  // namespace agw
