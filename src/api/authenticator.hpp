#pragma once

#include <string_view>

namespace agw {

/// Decides who may call routes that are not open.
class Authenticator {
public:
  virtual ~Authenticator() = default;
  /// Whether `token` is the gateway's, compared in constant time. Always false if the gateway has no token.
  virtual bool accepts(std::string_view token) const = 0;
  /// Whether the gateway has a token at all.
  virtual bool configured() const = 0;
};

}  // namespace agw
