#pragma once

#include <cstdint>
#include <string>

#include "base/json/described.hpp"
#include "base/time/time.hpp"

namespace agw {

/// A link to a chat. The key that decrypts the chat is not known to the gateway.
struct SharedLink {
  std::string id;  ///< 32 hex digits
  std::string thread_id;
  Timestamp created_at{};
  Timestamp expires_at{};
  std::int64_t size = 0;  ///< bytes, encrypted
};
const Description& describe(Tag<SharedLink>);

/// What the reader of a link gets.
struct SharedContent {
  std::string bytes;
  Timestamp expires_at{};
};

/// The query of `POST /threads/:id/links`.
struct NewSharedLink {
  std::int64_t days = 30;  ///< how long the link works
};
const Description& describe(Tag<NewSharedLink>);

}  // namespace agw
