#pragma once

#include <string_view>

namespace agw {

/// Decides who may call the routes that are not open.
class Authenticator {
public:
  virtual ~Authenticator() = default;
  /// Whether `token` is the gateway's, compared in constant time. Never, where the gateway runs without one.
  virtual bool accepts(std::string_view token) const = 0;
  /// Whether the gateway has a token at all.
  virtual bool configured() const = 0;
};

}  // namespace agw
