#pragma once

#include "api/route.hpp"
#include "features/engine/service.hpp"

namespace agw {

/// `/chat`, `/chat/stop`, what a client asks about runs, and what agents are told.
class EngineRoutes {
public:
  EngineRoutes(Engine& engine, Threads& threads, Runs& runs, Stages& stages)
      : engine_(engine), threads_(threads), runs_(runs), stages_(stages) {}
  Routes routes();

private:
  Task<Answer> chat(Request& request);
  Task<Answer> stop(Request& request);
  Task<Answer> regenerate(Request& request);
  Task<Answer> events(Request& request);
  Task<Answer> list_modes(Request& request);
  Task<Answer> prompt(Request& request);

  Engine& engine_;
  Threads& threads_;
  Runs& runs_;
  Stages& stages_;
};

}  // namespace agw
