#pragma once

#include "api/route.hpp"

namespace agw {

class ClientTools;
class Engine;
class Runs;
class Stages;
class Threads;

/// `/chat`, `/client-tools`, `/chat/stop`, deleting and answering turns, the events of runs, modes, and the prompts of
/// agents.
Routes chat_routes(Engine& engine, ClientTools& client_tools, Threads& threads, Runs& runs, Stages& stages);

}  // namespace agw
