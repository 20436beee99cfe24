#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/proxy/declared_secrets.hpp"
#include "io/proxy/request_filling.hpp"
#include "io/tls/tls_trust.hpp"

namespace agw {

/// Why a secret cannot be used. The message never contains a value.
class ProgramSecretError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The secrets that one running program uses but never holds: its environment has a random stand-in for each, and the
/// proxy puts the secret in its place in requests to the declared hosts. Immutable, so thread-safe.
class ProgramSecrets {
public:
  /// The value of a secret, looked up for each request that needs it. Throws std::runtime_error that says what is
  /// missing. Blocks.
  using Find = std::function<std::string(const std::string& secret)>;

  /// Makes the stand-ins. Throws ProgramSecretError, what `find` throws. Blocks.
  ProgramSecrets(std::vector<DeclaredSecret> declared, TlsTrust trust, Find find);

  /// By variable.
  const std::map<std::string, std::string>& stand_ins() const { return stand_ins_; }
  /// For the program: the host's authorities and the gateway's own, as PEM.
  const std::string& certificates() const { return certificates_; }
  const TlsTrust& trust() const { return trust_; }

  /// Whether connections to `target` are decrypted.
  bool decrypts(const HostPort& target) const;
  /// The variables whose secrets belong into a head, which RequestParser has accepted.
  std::vector<std::string> needed_in(std::string_view raw, const Head& head, const HostPort& target) const;
  /// The values of those, as they are now. Throws as the constructor does. Blocks.
  std::vector<Filling> fillings(const std::vector<std::string>& variables) const;

private:
  std::vector<DeclaredSecret> declared_;
  TlsTrust trust_;
  Find find_;
  std::map<std::string, std::string> stand_ins_;
  std::string certificates_;
};

/// A random text that looks like `secret`: the prefix of a known kind of key (`ghp_`, `sk-`), then letters and digits.
std::string new_stand_in(std::string_view secret);

}  // namespace agw
