#pragma once

#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// A file in a prompt.
struct PromptFile {
  std::string name;
  std::string type;  ///< its media type
  std::string bytes;
};

/// A prompt in the gateway's form: the text, and files to attach.
struct PromptContent {
  std::string text;
  std::vector<PromptFile> files;
};

/// Converts the content of `session/prompt`: texts are concatenated, a resource or a link to one becomes a Markdown
/// link in its place, pictures and the contents of resources become files. Throws RpcError (invalid_params) for an
/// invalid block, for sound, and for an empty prompt.
/// Example: src/cli/acp/prompt_content_test.cpp: PromptContent.KeepsTextsAndLinksInOrder
PromptContent prompt_content(const json::array& blocks);

}  // namespace agw::cli
