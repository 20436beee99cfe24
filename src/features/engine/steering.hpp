#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "features/context/service.hpp"
#include "features/engine/engine_services.hpp"
#include "features/runs/service.hpp"
#include "features/threads/types.hpp"

namespace agw {

/// The member of a run's order and of a user turn's metadata that is `steer` if the message is to join the active
/// answer.
inline constexpr std::string_view delivery_member = "delivery";

/// Whether the run's message is to join the answer of the run before it.
bool is_steering(const Run& run);

/// The active run that messages join, and the properties that they are compared with.
struct SteeredRun {
  ActiveRunPointer active;
  ThreadMode mode{};
  std::string_view model;  ///< `<provider>/<model>` that answered last
};

/// The runs queued after `run` whose messages may join it, in order: those for the same agent that request no other
/// mode or model. The others remain separate questions.
std::vector<ActiveRunPointer> messages_for(const Runs& runs, const SteeredRun& run);

/// Moves the messages into the record of the run `active`, after its first `after_step` steps, and announces them. If
/// that fails, they keep their places in the queue.
Task<std::vector<UserMessage>> steer(const EngineServices& services, ActiveRunPointer active,
                                     std::vector<ActiveRunPointer> messages, std::int64_t after_step);

}  // namespace agw
