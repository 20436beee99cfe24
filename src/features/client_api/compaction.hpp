#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "features/client_api/answer_writer.hpp"
#include "features/client_api/types.hpp"

namespace agw {

/// The user message that asks a model to summarise the conversation before it.
Message compaction_request();

/// Writes a `response.compaction`: the user's messages, and the answer as an item of the type `compaction`.
std::unique_ptr<AnswerWriter> compaction_writer(json::array input);

/// Decodes the text of a `compaction` item. Throws ApiError 400 that names `param`.
std::string compacted_text(std::string_view encrypted_content, const std::string& param);

}  // namespace agw
