#include "storage/work_item.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

template <class Handler>
class AwaitedItem : public WorkItem {
public:
  AwaitedItem(Loop& loop, DatabaseWork work, Handler handler)
      : WorkItem(loop, std::move(work)), handler_(std::move(handler)) {}
  void complete() override {
    AGW_ASSERT(!is_complete_);
    is_complete_ = true;
    std::move(handler_)(take_failure());
  }

private:
  Handler handler_;
  bool is_complete_ = false;
};

/// The rows of the leading items that use the same insert function as the first one.
std::vector<const void*> matching_rows(std::span<const std::unique_ptr<WorkItem>> items) {
  std::vector<const void*> rows;
  const RowInsert* const first = items.front()->row_insert();
  for (const auto& item : items) {
    const RowInsert* const insert = item->row_insert();
    if (!insert || insert->insert_all != first->insert_all) break;
    AGW_ASSERT(insert->insert_all);
    AGW_ASSERT(insert->row);
    rows.push_back(insert->row.get());
  }
  return rows;
}

}  // namespace

void WorkItem::fail(std::exception_ptr failure) {
  AGW_ASSERT(failure);
  failure_ = std::move(failure);
}

void WorkItem::run(Connection& connection) {
  failure_ = nullptr;
  try {
    std::visit([&](const auto& work) { work(connection); }, work_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void WorkItem::announce() const {
  const auto* const announced = std::get_if<AnnouncedWrite>(&work_);
  if (announced && !failed()) announced->committed();
}

std::size_t run_batch(std::span<const std::unique_ptr<WorkItem>> items, Connection& connection) {
  AGW_ASSERT(!items.empty());
  const auto rows = matching_rows(items);
  AGW_ASSERT(rows.size() <= items.size());
  if (rows.size() < 2) {
    items.front()->run(connection);
    return items.front()->failed() ? 0 : 1;
  }
  try {
    items.front()->row_insert()->insert_all(connection, rows);
    return rows.size();
  } catch (...) {
    return 0;  // the failing item is found when each runs alone
  }
}

void complete(Loop& loop, WorkItems items) {
  AGW_DEBUG_ASSERT(std::ranges::none_of(items, [](const auto& item) { return item == nullptr; }));
  asio::post(loop, [items = std::move(items)] {
    for (const auto& item : items) item->complete();
  });
}

void reject(Loop& loop, std::unique_ptr<WorkItem> item) {
  reject(loop, std::move(item), std::make_exception_ptr(DatabaseError(SQLITE_ABORT, "the database is closed")));
}

void reject(Loop& loop, std::unique_ptr<WorkItem> item, std::exception_ptr failure) {
  AGW_ASSERT(item);
  item->fail(std::move(failure));
  WorkItems items;
  items.push_back(std::move(item));
  complete(loop, std::move(items));
}

Task<> wait_for(Loop& loop, DatabaseWork work, std::function<void(std::unique_ptr<WorkItem>)> queue) {
  AGW_ASSERT(queue);
  return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [&loop, work = std::move(work), queue = std::move(queue)](auto handler) mutable {
        queue(std::make_unique<AwaitedItem<decltype(handler)>>(loop, std::move(work), std::move(handler)));
      },
      asio::use_awaitable);
}

}  // namespace agw
