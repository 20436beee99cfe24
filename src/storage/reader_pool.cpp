#include "storage/reader_pool.hpp"

#include <system_error>

#include "base/async/assert.hpp"

namespace agw {

namespace {

void read_in_transaction(WorkItem& item, const std::string& file, std::unique_ptr<Connection>& connection) {
  try {
    if (!connection) connection = std::make_unique<Connection>(file, Connection::Access::read_only);
    AGW_ASSERT(!connection->in_transaction());
    connection->prepare("BEGIN").run();
    item.run(*connection);
    if (connection->in_transaction()) connection->prepare("COMMIT").run();
    // A snapshot that stays open would prevent SQLite from restarting its log.
    AGW_ASSERT(!connection->in_transaction());
  } catch (const DatabaseError&) {
    item.fail(std::current_exception());
    connection.reset();
  }
}

}  // namespace

ItemReader file_reader(std::string file, ActiveReads& reads) {
  const auto connection = std::make_shared<std::unique_ptr<Connection>>();
  return {.read =
              [file = std::move(file), connection, &reads](WorkItem& item) {
                const ActiveReads::Read read(reads);
                read_in_transaction(item, file, *connection);
              },
          .release_memory =
              [connection] {
                if (*connection) (*connection)->release_memory();
              }};
}

ReaderPool::ReaderPool(Loop& loop, std::function<ItemReader()> make_reader, std::size_t limit)
    : loop_(loop), make_reader_(std::move(make_reader)), limit_(limit) {
  AGW_ASSERT(make_reader_);
  AGW_ASSERT(limit_ > 0);
}

ReaderPool::~ReaderPool() { close(std::chrono::steady_clock::now()); }

void ReaderPool::add(std::unique_ptr<WorkItem> item) {
  AGW_ASSERT(checker_.is_current());
  AGW_ASSERT(item);

  if (closing_) return reject(loop_, std::move(item));
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    AGW_ASSERT(free_ <= threads_.size());
    AGW_ASSERT(threads_.size() <= limit_);
    if (items_.size() >= free_ && threads_.size() < limit_) failure = start_thread();
    if (!failure) items_.push_back(std::move(item));
  }
  if (failure) return reject(loop_, std::move(item), failure);
  changed_.notify_one();
}

std::exception_ptr ReaderPool::start_thread() {
  AGW_ASSERT(threads_.size() < limit_);
  try {
    threads_.emplace_back("agw-reader", [this] { work(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) return std::current_exception();
  }
  return nullptr;
}

void ReaderPool::close(std::chrono::steady_clock::time_point deadline) {
  AGW_ASSERT(checker_.is_current());

  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    deadline_ = deadline;
  }
  changed_.notify_all();
  threads_.clear();
  AGW_ASSERT(free_ == 0);
  for (auto& item : items_) reject(loop_, std::move(item));
  items_.clear();
}

void ReaderPool::work() {
  const auto reader = make_reader_();
  AGW_ASSERT(reader.read);
  AGW_ASSERT(reader.release_memory);
  while (auto item = take(reader)) {
    reader.read(*item);
    WorkItems done;
    done.push_back(std::move(item));
    complete(loop_, std::move(done));
  }
}

std::unique_ptr<WorkItem> ReaderPool::take(const ItemReader& reader) {
  std::unique_lock lock(mutex_);
  ++free_;
  wait_for_work(changed_, lock, reader.release_memory, [this] { return !items_.empty() || closing_; });
  AGW_ASSERT(free_ > 0);
  --free_;
  if (items_.empty() || (closing_ && std::chrono::steady_clock::now() >= deadline_)) return nullptr;
  auto item = std::move(items_.front());
  items_.pop_front();
  AGW_ASSERT(item);
  return item;
}

}  // namespace agw
