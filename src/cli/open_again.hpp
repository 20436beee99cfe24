#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/answer_printer.hpp"
#include "cli/event_stream.hpp"

namespace agw::cli {

/// Connects to a thread's events again after the connection broke, for as long as a restart of the gateway takes at
/// most; `gateway` becomes the one that answers. Throws what keeps it from doing so after that time.
Task<std::unique_ptr<EventStream>> open_again(FoundGateway& gateway, const std::optional<std::string>& data_dir,
                                              const std::string& thread_id, AnswerPrinter& printer);

}  // namespace agw::cli
