#pragma once

#include "features/agents/service.hpp"
#include "features/checkpoints/service.hpp"
#include "features/costs/service.hpp"
#include "features/engine/service.hpp"
#include "features/events/hub.hpp"
#include "features/experiments/service.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/service.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"

namespace agw {

/// The services that iterations use. All must outlive the iterations.
struct IterationServices {
  Database& database;
  Hub& hub;
  const Clock& clock;
  BlockingPool& blocking;
  Extensions& extensions;
  const Projects& projects;
  const Stages& stages;
  Threads& threads;
  const Models& models;
  Costs& costs;
  Checkpoints& checkpoints;
  Engine& engine;
  Experiments& experiments;
  Proposals& proposals;
};

}  // namespace agw
