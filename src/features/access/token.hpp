#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The long-lived bearer token that grants access to every endpoint: 64 hex digits in `{data_dir}/.gateway-token`. A
/// gateway with `auth: none` has no Token.
/// Example: src/features/access/token_test.cpp: TokenTest.IsMadeOnceForItsOwnerAlone
class Token {
public:
  /// Reads the token, or creates one if there is none; nodes that do so at the same time get the same one. Throws
  /// StartError (usage) if other users can access the file or its content is not a token.
  static Token load_or_create(const std::filesystem::path& data_directory);

  /// Replaces the token with a new one. Throws std::system_error.
  static Token replace(const std::filesystem::path& data_directory);

  /// Reads the token, for the command line; nullopt if there is none. Throws like `load_or_create`.
  static std::optional<Token> load(const std::filesystem::path& data_directory);

  /// Compares in constant time.
  bool matches(std::string_view candidate) const;

  /// The secret itself, for the person at the host or a paired device. Never log it.
  const std::string& secret() const { return secret_; }

private:
  explicit Token(std::string secret);

  std::string secret_;
};

}  // namespace agw
