#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The long-lived bearer token that opens every endpoint: 64 hex digits in `{data_dir}/.gateway-token`. A gateway with
/// `auth: none` has no Token at all.
class Token {
public:
  /// Reads the token, or makes one where there is none. Throws StartError (usage) where the file is open to others, or
  /// holds something else.
  static Token load_or_create(const std::filesystem::path& data_directory);

  /// Makes a new token and puts it in place of the one there is. Throws std::system_error.
  static Token replace(const std::filesystem::path& data_directory);

  /// Reads it, for the command line; nothing where there is none. Throws as above.
  static std::optional<Token> load(const std::filesystem::path& data_directory);

  /// Takes as long for a wrong one as for the right one.
  bool matches(std::string_view candidate) const;

  /// The secret itself, to be shown to the person at the host or given to a paired device; never to be logged.
  const std::string& secret() const { return secret_; }

private:
  explicit Token(std::string secret) : secret_(std::move(secret)) {}

  std::string secret_;
};

}  // namespace agw
