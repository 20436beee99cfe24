#pragma once

#include "api/route.hpp"
#include "features/engine/service.hpp"

namespace agw {

/// `/chat`, `/chat/stop`, and what a client asks about runs.
class EngineRoutes {
public:
  EngineRoutes(Engine& engine, Threads& threads, Runs& runs) : engine_(engine), threads_(threads), runs_(runs) {}
  Routes routes();

private:
  Task<Answer> chat(Request& request);
  Task<Answer> stop(Request& request);
  Task<Answer> regenerate(Request& request);
  Task<Answer> events(Request& request);

  Engine& engine_;
  Threads& threads_;
  Runs& runs_;
};

}  // namespace agw
