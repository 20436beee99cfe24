#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "features/secrets/filled_secrets.hpp"
#include "io/proxy/program_secrets.hpp"

namespace agw {

class BlockingPool;
struct Route;

/// A problem with a secret or with the file of secrets. The message never contains a value.
class SecretError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The values of `${secret:NAME}`, in `{data_dir}/secrets.yaml` (mode 0600). The file is read at each call, so changes
/// apply immediately. Throws SecretError for an invalid name (valid: a letter or `_`, then letters, digits and `_`, at
/// most 128), and for a file that others can read, that is not a regular file, or that is not a map of texts. Functions
/// block unless documented otherwise.
/// Example: src/features/secrets/service_test.cpp: SecretsTest.AreFilledInWhereverTheyAreNamed
class Secrets {
public:
  explicit Secrets(std::filesystem::path data_directory);

  /// Throws SecretError for an invalid name. Does not block.
  static void check_name(std::string_view name);

  /// Throws SecretError for a value that is empty, over 64 KiB, or not UTF-8.
  void set(const std::string& name, const std::string& value) const;
  /// Returns whether it existed.
  bool remove(const std::string& name) const;
  /// Sorted.
  std::vector<std::string> names() const;

  /// Returns the value of a secret.
  std::optional<std::string> find(const std::string& name) const;

  /// Returns `text` with every `${secret:NAME}` replaced by its value. References inside values are not replaced.
  /// Throws SecretError for a name without a value, so that no request is made with incomplete credentials. Each value
  /// is added to `filled`.
  std::string expand(std::string_view text, FilledSecrets* filled = nullptr) const;

  /// Returns the secrets that a definition declares for its program; null if it declares none. Throws SecretError for
  /// one without a value, or with a value that cannot be sent in a request. Each value is added to `filled`. The result
  /// refers to this object.
  std::shared_ptr<const ProgramSecrets> for_program(std::vector<DeclaredSecret> declared,
                                                    FilledSecrets* filled = nullptr) const;

private:
  using Values = std::map<std::string, std::string, std::less<>>;

  Values read() const;
  Values parse(const std::string& text) const;
  static std::string text_of(const Values& values);
  /// Changes the values, unless `edit` returns false. Returns what it returned.
  bool change(const std::function<bool(Values&)>& edit) const;

  std::filesystem::path data_directory_;
  std::shared_ptr<TlsTrustStore> trust_;
};

/// `/secrets`: lists names, sets and deletes values. Values are never returned.
std::vector<Route> secret_routes(const Secrets& secrets, BlockingPool& blocking);

}  // namespace agw
