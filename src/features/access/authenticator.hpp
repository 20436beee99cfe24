#pragma once

#include <optional>

#include "api/authenticator.hpp"
#include "features/access/token.hpp"

namespace agw {

/// Lets in who holds the gateway's token; nobody where it runs without one.
class TokenAuthenticator : public Authenticator {
public:
  explicit TokenAuthenticator(std::optional<Token> token) : token_(std::move(token)) {}
  bool accepts(std::string_view token) const override { return token_ && token_->matches(token); }
  bool configured() const override { return token_.has_value(); }

private:
  std::optional<Token> token_;
};

}  // namespace agw
