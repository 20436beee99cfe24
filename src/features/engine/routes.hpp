#pragma once

#include "api/route.hpp"

namespace agw {

class Engine;
class Runs;
class Stages;
class Threads;

/// `/chat`, `/chat/stop`, deleting and answering turns, the events of runs, modes, and the prompts of agents.
Routes chat_routes(Engine& engine, Threads& threads, Runs& runs, Stages& stages);

}  // namespace agw
