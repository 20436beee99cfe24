#pragma once

#include <string>
#include <string_view>

#include "base/time/time.hpp"
#include "features/push/ec_key.hpp"

namespace agw {

/// The size of a salt, in bytes.
inline constexpr std::size_t push_salt_size = 16;
/// The size of a browser's authentication secret, in bytes.
inline constexpr std::size_t push_auth_size = 16;
/// The maximum size of a message that every push service accepts, in bytes (RFC 8291, section 4).
inline constexpr std::size_t max_push_text = 3993;

/// Returns a salt for one message.
std::string random_push_salt();

/// Encrypts `text` in the content coding `aes128gcm` (RFC 8188), as one record: header, cipher text, tag. The header
/// contains `key_id`. Throws std::length_error if the text does not fit into one record.
std::string encrypt_aes128gcm(std::string_view text, std::string_view key_material, std::string_view salt,
                              std::string_view key_id);

/// Encrypts a push message for the browser with these keys (RFC 8291). `point` and `auth` are the browser's, as bytes;
/// `sender` and `salt` must be new for each message. Throws like `EcKey::agree`.
std::string encrypt_push(std::string_view text, std::string_view point, std::string_view auth, const EcKey& sender,
                         std::string_view salt);

/// Returns the value of `Authorization` that identifies the sender to the push service at `origin` (VAPID, RFC 8292).
/// It is valid for twelve hours. `contact` is a URL, for the service's operator.
std::string vapid_authorization(const EcKey& key, std::string_view origin, std::string_view contact, Timestamp now);

}  // namespace agw
