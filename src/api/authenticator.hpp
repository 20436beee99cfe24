#pragma once

#include <string_view>

namespace agw {

/// Decides which clients may call routes that are not open.
class Authenticator {
public:
  virtual ~Authenticator() = default;
  /// Whether `token` is the gateway's token. Compares in constant time. Always false if the gateway has no token.
  virtual bool accepts(std::string_view token) const = 0;
  /// Whether the gateway has a token.
  virtual bool configured() const = 0;
};

}  // namespace agw
