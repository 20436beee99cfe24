#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/request.hpp"
#include "models/model.hpp"

namespace agw {

/// A picture that a request refers to by URL, and the image that is empty until the picture has been fetched.
struct PictureUrl {
  std::size_t message = 0;  ///< of ModelRequest::messages
  std::size_t image = 0;    ///< of Message::images
  std::string url;
  std::string param;  ///< for errors
};

/// A request of a program, in any protocol.
struct ClientRequest {
  std::string model;  ///< an agent's name or id, or `<service>/<model>`
  /// The system prompt, the conversation, the program's own tools and the settings; without a model.
  ModelRequest call{};
  std::vector<PictureUrl> pictures{};
  /// Agents only: for each message of the conversation, the digests of the user's pictures.
  std::vector<std::vector<std::string>> picture_digests{};
  bool stream = false;
  std::string client{};                             ///< the program's name: see `client_product`
  std::optional<std::string> thread_id{};           ///< agents only: the thread to continue
  std::string thread_param = "metadata.thread_id";  ///< the parameter or header that contains the thread
  std::string_view messages_param = "messages";     ///< the parameter that contains the conversation
  bool wants_storing = false;                       ///< refused for models; agents' answers are stored in any case
  bool is_repeatable = false;  ///< has an Idempotency-Key: an agent's answer continues if the program disconnects
};

/// Length of ClientAnswer::id.
inline constexpr std::size_t answer_id_digits = 28;

/// An answer to a program, complete or unfinished.
struct ClientAnswer {
  std::string id;            ///< random hex digits; protocols add their prefix
  std::string model;         ///< as the program named it
  std::int64_t created = 0;  ///< Unix time in seconds
  std::string thread_id{};   ///< of an agent's answer
  std::string text{};
  std::string reasoning{};
  std::vector<ToolUse> tool_uses{};  ///< calls of the program's own tools; known only at the end
  json::array provider_blocks{};     ///< see ModelReply; known only at the end
  StopReason stop = StopReason::stop;
  std::string stop_sequence{};
  std::string service_tier{};  ///< the tier that answered, by OpenAI's name; empty: unknown
  Usage usage{};
};

/// The product of a User-Agent (`codex_cli_rs/0.1 (Linux)` is `codex_cli_rs`), at most 64 characters of
/// `[A-Za-z0-9._-]`; `api` if there is none.
std::string client_product(std::optional<std::string_view> user_agent);

/// Sets the thread from the header X-Thread-Id.
void name_thread_by_header(ClientRequest& client_request, std::string_view thread_id);
/// Reads the program's name, the thread and the Idempotency-Key from the headers.
void read_headers(ClientRequest& client_request, const Request& request);

}  // namespace agw
