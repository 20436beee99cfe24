#include "features/jobs/job_threads.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

Task<std::optional<std::string>> JobThreads::latest(ThreadFilter filter) {
  filter.limit = Limit{1};
  const auto threads = co_await threads_.list(std::move(filter));
  co_return threads.empty() ? std::nullopt : std::optional(threads.front().id);
}

Task<std::string> JobThreads::choose(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id) {
  const auto filter = owner_id ? ThreadFilter{.agent_id = owner_id} : ThreadFilter{.job_id = job->id, .archived = true};
  const auto key = owner_id.value_or(job->id);
  for (;;) {
    if (auto thread = co_await latest(filter)) co_return *thread;
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
    const auto other = co_await latest(filter);
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
