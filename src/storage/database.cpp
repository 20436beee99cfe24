#include "storage/database.hpp"

#include <chrono>

#include "base/async/assert.hpp"
#include "storage/open.hpp"
#include "storage/reader_pool.hpp"
#include "storage/writer.hpp"

namespace agw {

namespace {

constexpr std::chrono::seconds time_to_close{4};

}  // namespace

struct Database::Threads {
  Threads(Loop& l, const Options& options)
      : loop(l),
        writer(l, open_database(options.file, options.backups, options.migrations), options.file.string(),
               options.group_limit),
        readers(l, options.file.string(), options.readers) {}

  Loop& loop;
  Writer writer;
  ReaderPool readers;
};

Database::Database(Loop& loop, const Options& options) : threads_(std::make_unique<Threads>(loop, options)) {}

Database::~Database() { close(); }

Connection& Database::start_connection() { return threads_->writer.start_connection(); }

void Database::close() {
  AGW_ASSERT(may_block());

  const auto deadline = std::chrono::steady_clock::now() + time_to_close;
  threads_->readers.close(deadline);
  threads_->writer.close(deadline);
}

Database::Statistics Database::statistics() const {
  return {threads_->writer.commits(), threads_->writer.writes(), threads_->writer.queued()};
}

Task<> Database::run(Access access, Lane lane, Work work) {
  try {
    co_await wait_for(threads_->loop, std::move(work), [this, access, lane](std::unique_ptr<WorkItem> item) {
      if (access == Access::read) {
        threads_->readers.add(std::move(item));
      } else {
        threads_->writer.add(std::move(item), lane);
      }
    });
  } catch (const DiskFull&) {
    if (on_disk_full_) on_disk_full_();
    throw;
  }
}

}  // namespace agw
