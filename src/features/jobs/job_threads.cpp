#include "features/jobs/job_threads.hpp"

#include <algorithm>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

namespace {

/// A job made few threads that are not its own: one for each owner that had none.
constexpr int threads_looked_at = 100;

}  // namespace

Task<std::optional<std::string>> JobThreads::latest_of(std::string owner_id) {
  const auto threads = co_await threads_.list({.agent_id = std::move(owner_id), .limit = Limit{1}});
  co_return threads.empty() ? std::nullopt : std::optional(threads.front().id);
}

/// Not the thread that a run made for an owner which the job had then: that is the owner's.
Task<std::optional<std::string>> JobThreads::own_of(ExtensionPointer job, std::string agent_id) {
  const auto threads = co_await threads_.list({.job_id = job->id, .archived = true, .limit = Limit{threads_looked_at}});
  const auto own = std::ranges::find_if(
      threads, [&](const Thread& thread) { return thread.agent_id == agent_id || thread.title == job->name; });
  co_return own == threads.end() ? std::nullopt : std::optional(own->id);
}

Task<std::string> JobThreads::choose(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id) {
  const auto find = [&] { return owner_id ? latest_of(*owner_id) : own_of(job, agent_id); };
  const auto key = owner_id.value_or(job->id);
  for (;;) {
    if (auto thread = co_await find()) co_return *thread;
    if (making_.insert(key).second) break;
    boost::system::error_code ignored;
    co_await made_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  NewThread wanted{.agent_id = owner_id.value_or(agent_id), .job_id = job->id};
  if (!owner_id) wanted.title = job->name;
  std::exception_ptr failure;
  std::string made;
  try {
    // Another run may have made it between the look and the claim to make it.
    const auto other = co_await find();
    made = other ? *other : (co_await threads_.create(std::move(wanted))).id;
  } catch (...) {
    failure = std::current_exception();
  }
  making_.erase(key);
  made_.cancel();
  if (failure) std::rethrow_exception(failure);
  co_return made;
}

}  // namespace agw
