#include "storage/readers.hpp"

#include <system_error>

namespace agw {

Readers::Readers(Loop& loop, std::string file, std::size_t limit)
    : loop_(loop), file_(std::move(file)), limit_(limit) {}

Readers::~Readers() { close(std::chrono::steady_clock::now()); }

void Readers::add(std::unique_ptr<Job> job) {
  if (closing_) return refuse(loop_, std::move(job));
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= free_ && threads_.size() < limit_) failure = start_thread();
    if (!failure) jobs_.push_back(std::move(job));
  }
  if (failure) return refuse(loop_, std::move(job), failure);
  changed_.notify_one();
}

std::exception_ptr Readers::start_thread() {
  try {
    threads_.emplace_back("agw-reader", [this] { work(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) return std::current_exception();
  }
  return nullptr;
}

void Readers::close(std::chrono::steady_clock::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    deadline_ = deadline;
  }
  changed_.notify_all();
  threads_.clear();
  for (auto& job : jobs_) refuse(loop_, std::move(job));
  jobs_.clear();
}

void Readers::work() {
  std::optional<Connection> connection;
  while (auto job = take()) {
    read(*job, connection);
    Jobs done;
    done.push_back(std::move(job));
    answer(loop_, std::move(done));
  }
}

std::unique_ptr<Job> Readers::take() {
  std::unique_lock lock(mutex_);
  ++free_;
  changed_.wait(lock, [this] { return !jobs_.empty() || closing_; });
  --free_;
  if (jobs_.empty() || (closing_ && std::chrono::steady_clock::now() >= deadline_)) return nullptr;
  auto job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void Readers::read(Job& job, std::optional<Connection>& connection) const {
  try {
    if (!connection) connection.emplace(file_, Connection::Access::read_only);
    connection->prepare("BEGIN").run();
    job.run(*connection);
    if (connection->in_transaction()) connection->prepare("COMMIT").run();
  } catch (const DatabaseError&) {
    job.fail(std::current_exception());
    connection.reset();
  }
}

}  // namespace agw
