#pragma once

#include "features/attachments/service.hpp"
#include "features/costs/service.hpp"
#include "features/engine/call_runner.hpp"
#include "features/engine/prompt.hpp"
#include "features/extensions/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// What answers are made with. All of it outlives them.
struct AnswerServices {
  Loop& loop;
  Database& database;
  const Clock& clock;
  Extensions& extensions;
  Threads& threads;
  Runs& runs;
  const Models& models;
  Prompts& prompts;
  Costs& costs;
  Attachments& attachments;
  CallRunner& calls;
};

}  // namespace agw
