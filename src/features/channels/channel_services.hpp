#pragma once

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

}  // namespace agw
