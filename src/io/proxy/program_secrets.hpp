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

/// Why a secret cannot be used. The message never contains its value.
class ProgramSecretError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The secrets that one running program uses but never has: its environment contains a random stand-in for each, which
/// the proxy replaces by the secret in requests to the declared hosts. Immutable and thus thread-safe.
class ProgramSecrets {
public:
  /// Returns the value of a secret; called for each request that needs it. Throws std::runtime_error that names the
  /// missing secret. Blocks.
  using Find = std::function<std::string(const std::string& secret)>;

  /// Creates the stand-ins. Throws ProgramSecretError, and exceptions of `find`. Blocks.
  ProgramSecrets(std::vector<DeclaredSecret> declared, TlsTrust trust, Find find);

  /// Stand-ins by variable.
  const std::map<std::string, std::string>& stand_ins() const { return stand_ins_; }
  /// The host's authorities and the gateway's own as PEM, for the program.
  const std::string& certificates() const { return certificates_; }
  const TlsTrust& trust() const { return trust_; }

  /// Whether connections to `target` are decrypted.
  bool decrypts(const HostPort& target) const;
  /// The variables whose secrets are needed in a head that RequestParser has accepted.
  std::vector<std::string> needed_in(std::string_view raw, const Head& head, const HostPort& target) const;
  /// The current values of their secrets. Throws like the constructor. Blocks.
  std::vector<Filling> fillings(const std::vector<std::string>& variables) const;

private:
  std::vector<DeclaredSecret> declared_;
  TlsTrust trust_;
  Find find_;
  std::map<std::string, std::string> stand_ins_;
  std::string certificates_;
};

/// A random text in the form of `secret`: the prefix of a known kind of key (`ghp_`, `sk-`), then letters and digits.
std::string new_stand_in(std::string_view secret);

}  // namespace agw
