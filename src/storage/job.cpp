#include "storage/job.hpp"

#include <sqlite3.h>

#include <algorithm>
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

/// The rows of the jobs at the beginning that are inserted as the first one's is.
std::vector<const void*> rows_alike(std::span<const std::unique_ptr<Job>> jobs) {
  std::vector<const void*> rows;
  const RowInsert* const first = jobs.front()->row_insert();
  for (const auto& job : jobs) {
    const RowInsert* const insert = job->row_insert();
    if (!insert || insert->insert_all != first->insert_all) break;
    rows.push_back(insert->row.get());
  }
  return rows;
}

}  // namespace

void Job::run(Connection& connection) {
  failure_ = nullptr;
  try {
    work_(connection);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

std::size_t run_first(std::span<const std::unique_ptr<Job>> jobs, Connection& connection) {
  const auto rows = rows_alike(jobs);
  if (rows.size() < 2) {
    jobs.front()->run(connection);
    return jobs.front()->failed() ? 0 : 1;
  }
  try {
    jobs.front()->row_insert()->insert_all(connection, rows);
    return rows.size();
  } catch (...) {
    return 0;  // Whose fault it was shows when each runs alone.
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
