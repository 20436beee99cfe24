#include "storage/database.hpp"

#include <chrono>

#include "base/async/assert.hpp"
#include "storage/active_reads.hpp"
#include "storage/engine.hpp"
#include "storage/open.hpp"
#include "storage/reader_pool.hpp"
#include "storage/writer.hpp"

namespace agw {

namespace {

constexpr std::chrono::seconds time_to_close{4};

class SqliteEngine final : public StorageEngine {
public:
  SqliteEngine(Loop& loop, const Database::Options& options)
      : writer_(loop, open_database(options.file, options.backups, options.migrations), options.file.string(),
                options.group_limit, reads_),
        readers_(loop, [this, file = options.file.string()] { return file_reader(file, reads_); }, options.readers) {}

  void write(std::unique_ptr<WorkItem> item, Database::Lane lane) override { writer_.add(std::move(item), lane); }
  void read(std::unique_ptr<WorkItem> item) override { readers_.add(std::move(item)); }
  Connection& start_connection() override { return writer_.start_connection(); }
  void close(Clock::time_point deadline) override {
    readers_.close(deadline);
    writer_.close(deadline);
  }
  Database::Statistics statistics() const override { return {writer_.commits(), writer_.writes(), writer_.queued()}; }

private:
  ActiveReads reads_;
  Writer writer_;
  ReaderPool readers_;
};

}  // namespace

std::unique_ptr<StorageEngine> open_file(Loop& loop, const Database::Options& options) {
  return std::make_unique<SqliteEngine>(loop, options);
}

Database::Database(Loop& loop, const Options& options) : Database(loop, open_file(loop, options)) {}

Database::Database(Loop& loop, std::unique_ptr<StorageEngine> engine) : loop_(loop), engine_(std::move(engine)) {
  AGW_ASSERT(engine_);
}

Database::~Database() { close(); }

Connection& Database::start_connection() { return engine_->start_connection(); }

void Database::hurry() { engine_->hurry(); }

void Database::close() {
  AGW_DEBUG_ASSERT(may_block());

  engine_->close(StorageEngine::Clock::now() + time_to_close);
}

Database::Statistics Database::statistics() const { return engine_->statistics(); }

Task<> Database::run(Access access, Lane lane, DatabaseWork work) {
  if (access == Access::read) AGW_ASSERT(lane == Lane::request);
  try {
    co_await wait_for(loop_, std::move(work), [this, access, lane](std::unique_ptr<WorkItem> item) {
      if (access == Access::read) {
        engine_->read(std::move(item));
      } else {
        engine_->write(std::move(item), lane);
      }
    });
  } catch (const DiskFull&) {
    if (on_disk_full_) on_disk_full_();
    throw;
  }
}

}  // namespace agw
