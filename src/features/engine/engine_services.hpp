#pragma once

#include "features/approvals/service.hpp"
#include "features/attachments/service.hpp"
#include "features/context/service.hpp"
#include "features/costs/service.hpp"
#include "features/engine/call_runner.hpp"
#include "features/extensions/service.hpp"
#include "features/runs/service.hpp"
#include "features/signals/alerts.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"

namespace agw {

/// The earlier rooms that the engine uses. All outlive the engine.
struct EngineServices {
  Loop& loop;
  BlockingPool& blocking;
  Database& database;
  const Clock& clock;
  Extensions& extensions;
  Threads& threads;
  Runs& runs;
  const Models& models;
  Prompts& prompts;
  Costs& costs;
  Alerts& alerts;
  Attachments& attachments;
  CallRunner& calls;
  Approvals& approvals;
};

}  // namespace agw
