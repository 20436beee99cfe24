#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/client/event_stream.hpp"
#include "cli/output/answer_printer.hpp"

namespace agw::cli {

/// Reconnects to a thread's events after the connection broke, and retries for as long as a restart of the gateway may
/// take; updates `gateway`. After that time throws the reason.
Task<std::unique_ptr<EventStream>> reconnect(FoundGateway& gateway, const std::optional<std::string>& data_dir,
                                             const std::string& thread_id, AnswerPrinter& printer,
                                             bool approvals = false);

}  // namespace agw::cli
