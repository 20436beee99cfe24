#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "features/secrets/filled_secrets.hpp"

namespace agw {

/// What is wrong with a secret or with the file of them; never holds a value.
class SecretError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The values that stand behind `${secret:NAME}`, in `{data_dir}/secrets.yaml` (mode 0600). The file is read at each
/// call, so that a change counts at once. Throws SecretError for a name that is none (a letter or `_`, then letters,
/// digits and `_`, 128 at most), and for a file that is open to others, no regular one or no map of texts. All of it
/// blocks: not for the loop.
class Secrets {
public:
  explicit Secrets(std::filesystem::path data_directory);

  /// Throws SecretError for a name that is none. Does not block.
  static void check_name(std::string_view name);

  /// Throws SecretError for a value that is empty, over 64 KiB, or no UTF-8 text.
  void set(const std::string& name, const std::string& value) const;
  /// Whether there was one.
  bool remove(const std::string& name) const;
  /// Sorted.
  std::vector<std::string> names() const;

  /// The value of one.
  std::optional<std::string> find(const std::string& name) const;

  /// `text` with every `${secret:NAME}` replaced by its value. What is in a value is not looked at again. Throws
  /// SecretError for a name without a value: a request is not made with half of its credentials. `filled` is told of
  /// each value.
  std::string expand(std::string_view text, FilledSecrets* filled = nullptr) const;

private:
  using Values = std::map<std::string, std::string, std::less<>>;

  Values read() const;
  void write(const Values& values) const;

  std::filesystem::path data_directory_;
};

}  // namespace agw
