#include "features/access/token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/text/ascii.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

constexpr std::size_t token_bytes = 32;
constexpr std::size_t token_digits = 2 * token_bytes;

[[noreturn]] void refuse(const std::string& message) { throw StartError(ExitStatus::usage, message); }

std::filesystem::path path_in(const std::filesystem::path& data_directory) {
  return data_directory / data_files::token;
}

void check_file(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) refuse(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) refuse(fmt::format("the token {} is no regular file", path));
  if ((status.st_mode & 077) == 0) return;
  refuse(fmt::format("the token {} is open to others (mode {:04o}): run chmod 600 '{}'", path, status.st_mode & 07777u,
                     path));
}

/// Returns the file's text without a newline at the end. Reads one character more than a token has, to detect longer
/// files.
std::string read_text(const Descriptor& file, const std::string& path) {
  std::array<char, token_digits + 2> buffer;
  const auto size = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) refuse(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string text(buffer.data(), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void check_text(const std::string& text, const std::string& path) {
  if (text.size() == token_digits && std::ranges::all_of(text, is_hex_digit)) return;
  const auto found = text.empty()                 ? std::string("is empty")
                     : text.size() > token_digits ? fmt::format("is longer than {} characters", token_digits)
                     : text.size() < token_digits ? fmt::format("holds {} characters", text.size())
                                                  : std::string("holds characters that are no hex digits");
  refuse(fmt::format("the token {} {}, it must be {} hex digits: remove the file, and the next start makes a new token",
                     path, found, token_digits));
}

}  // namespace

/// Nobody may get in with a short token, or without one.
Token::Token(std::string secret) : secret_(std::move(secret)) { AGW_ASSERT(secret_.size() == token_digits); }

std::optional<Token> Token::load(const std::filesystem::path& data_directory) {
  const auto path = path_in(data_directory).string();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) refuse(fmt::format("cannot read the token {}: {}", path, std::strerror(errno)));
  check_file(file, path);
  auto text = read_text(file, path);
  check_text(text, path);
  return Token(std::move(text));
}

Token Token::load_or_create(const std::filesystem::path& data_directory) {
  if (auto token = load(data_directory)) return *std::move(token);
  try {
    Token token(random_hex(token_bytes));
    if (create_file(path_in(data_directory), token.secret_, 0600)) return token;
  } catch (const std::system_error& error) {
    throw StartError(ExitStatus::failure, error.what());
  }
  // Another node has created one at the same time.
  if (auto token = load(data_directory)) return *std::move(token);
  throw StartError(ExitStatus::failure,
                   fmt::format("the token {} was removed immediately after its creation: start again",
                               path_in(data_directory).string()));
}

Token Token::replace(const std::filesystem::path& data_directory) {
  Token token(random_hex(token_bytes));
  replace_file(path_in(data_directory), token.secret_, 0600);
  return token;
}

bool Token::matches(std::string_view candidate) const { return are_equal_secrets(candidate, secret_); }

}  // namespace agw
