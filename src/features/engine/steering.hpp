#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "features/context/service.hpp"
#include "features/engine/engine_services.hpp"
#include "features/runs/service.hpp"
#include "features/threads/types.hpp"

namespace agw {

/// The member of an order, and of a user turn's metadata, of a message that is to join the answer under way: `steer`.
inline constexpr std::string_view delivery_member = "delivery";

/// Whether the run waits to be steered into the one before it.
bool is_steering(const Run& run);

/// The properties of an active run that do not change until its end.
struct SteeredRun {
  ActiveRunPointer active;
  ThreadMode mode{};
  std::string_view model;  ///< `<provider>/<model>` that answered last
};

/// The messages that are queued after the run and may join it, in order: those for its agent that ask for no other mode
/// or model. The others remain separate questions.
std::vector<ActiveRunPointer> messages_for(const Runs& runs, const SteeredRun& run);

/// Moves the messages into the record of the run, after that many of its steps, and announces them. If that fails, they
/// keep their places in the queue.
Task<std::vector<UserMessage>> steer(const EngineServices& services, ActiveRunPointer active,
                                     std::vector<ActiveRunPointer> messages, std::int64_t after_step);

}  // namespace agw
