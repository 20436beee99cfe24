#pragma once

#include <exception>

#include "base/time/time.hpp"
#include "features/approvals/service.hpp"
#include "features/attachments/service.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/secrets/service.hpp"
#include "features/signals/service.hpp"
#include "features/threads/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "storage/database.hpp"

namespace agw {

/// The earlier rooms that channels use.
struct ChannelServices {
  Loop& loop;
  Database& database;
  Hub& hub;
  const Clock& clock;
  BlockingPool& blocking;
  const Secrets& secrets;
  HttpClient& http;
  Signals& signals;
  Attachments& attachments;
  Extensions& extensions;
  Threads& threads;
  Runs& runs;
  Approvals& approvals;
  Engine& engine;
};

/// Whether a write may succeed later: the disk is full, the database server is unreachable, or another node answers in
/// the thread. Nothing was written.
inline bool may_pass(const std::exception& error) {
  return dynamic_cast<const DiskFull*>(&error) || dynamic_cast<const DatabaseUnavailable*>(&error) ||
         dynamic_cast<const ThreadElsewhere*>(&error);
}

}  // namespace agw
