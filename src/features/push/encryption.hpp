#pragma once

#include <string>
#include <string_view>

#include "base/time/time.hpp"
#include "features/push/ec_key.hpp"

namespace agw {

/// The bytes of a salt.
inline constexpr std::size_t push_salt_size = 16;
/// The bytes of a browser's authentication secret.
inline constexpr std::size_t push_auth_size = 16;
/// The longest message that a push service must take (RFC 8291, section 4).
inline constexpr std::size_t max_push_text = 3993;

/// A salt for one message.
std::string random_push_salt();

/// `text` in the content coding `aes128gcm` (RFC 8188), as one record: header, cipher text, tag. `key_id` goes into the
/// header. Throws std::length_error for more than one record.
std::string encrypt_aes128gcm(std::string_view text, std::string_view key_material, std::string_view salt,
                              std::string_view key_id);

/// A push message that only the browser with these keys can read (RFC 8291). `point` and `auth` are the browser's, as
/// bytes; `sender` and `salt` must be new for each message. Throws as `EcKey::agree` does.
std::string encrypt_push(std::string_view text, std::string_view point, std::string_view auth, const EcKey& sender,
                         std::string_view salt);

/// The value of `Authorization` that tells the push service at `origin` who sends (VAPID, RFC 8292). It is valid for
/// twelve hours. `contact` is a URL, for the service's operator.
std::string vapid_authorization(const EcKey& key, std::string_view origin, std::string_view contact, Timestamp now);

}  // namespace agw
