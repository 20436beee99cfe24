#include "features/jobs/job_threads.hpp"

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "features/jobs/store.hpp"
#include "storage/database.hpp"

namespace agw {

Task<std::optional<std::string>> JobThreads::latest_of(std::string owner_id) {
  const auto threads = co_await threads_.list({.agent_id = std::move(owner_id), .limit = Limit{1}});
  co_return threads.empty() ? std::nullopt : std::optional(threads.front().id);
}

Task<std::optional<std::string>> JobThreads::own_of(std::string job_id) {
  auto own =
      co_await database_.read([job_id](Connection& connection) { return job_store::own_thread(connection, job_id); });
  if (!own) co_return std::nullopt;
  try {
    co_await threads_.require(*own);
  } catch (const NotFound&) {
    co_return std::nullopt;  // The thread was deleted.
  }
  co_return own;
}

/// Only a thread without an owner is stored as the job's own; one that is created for an owner belongs to the owner.
Task<std::string> JobThreads::make(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id) {
  NewThread wanted{.agent_id = owner_id.value_or(agent_id), .job_id = job->id};
  InTransaction<Thread> in_transaction;
  if (!owner_id) {
    wanted.title = job->name;
    in_transaction = [job_id = job->id](Connection& connection, const Thread& thread) {
      job_store::remember_own_thread(connection, job_id, thread.id);
    };
  }
  co_return (co_await threads_.create(std::move(wanted), std::move(in_transaction))).id;
}

Task<std::string> JobThreads::choose(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id) {
  AGW_ASSERT(!agent_id.empty());
  const auto find = [&] { return owner_id ? latest_of(*owner_id) : own_of(job->id); };
  const auto key = owner_id.value_or(job->id);
  for (;;) {
    if (auto thread = co_await find()) co_return *thread;
    if (making_.insert(key).second) break;
    co_await made_.wait();
  }
  std::exception_ptr failure;
  std::string made;
  try {
    // Checks again, because another run may have created the thread while this one waited.
    const auto other = co_await find();
    made = other ? *other : co_await make(job, agent_id, owner_id);
  } catch (...) {
    failure = std::current_exception();
  }
  const auto removed = making_.erase(key);
  AGW_ASSERT(removed == 1);
  made_.pulse();
  if (failure) std::rethrow_exception(failure);
  AGW_ASSERT(!made.empty());
  co_return made;
}

}  // namespace agw
