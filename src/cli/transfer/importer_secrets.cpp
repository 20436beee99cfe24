// The keys found by an import. Other extensions may use an existing secret, so it is never replaced.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "cli/client/client.hpp"
#include "cli/transfer/importer.hpp"
#include "features/secrets/service.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t max_secret_name = 64;

std::string upper_case_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_kept = is_upper(c) || is_digit(c);
    name += is_lower(c) ? static_cast<char>(c - 'a' + 'A') : is_kept ? c : '_';
  }
  name.resize(std::min(name.size(), max_secret_name));
  return name;
}

std::string numbered(const std::string& name, int number) {
  return number == 1 ? name : fmt::format("{}_{}", name, number);
}

}  // namespace

/// Two variables whose names become equal, or two values of one variable, become two secrets. A value stored elsewhere
/// by the other program belongs to the variable.
std::string Importer::secret_name(const std::string& variable, const std::string& value) {
  const auto base = upper_case_name(source_ + "_" + variable);
  for (int number = 1;; ++number) {
    auto name = numbered(base, number);
    auto& [known_variable, known_value] = secrets_.try_emplace(name, variable, value).first->second;
    if (known_variable != variable) continue;
    if (known_value.empty()) known_value = value;
    if (value.empty() || known_value == value) return name;
  }
}

/// A name for the key that is neither in use nor planned.
std::string Importer::free_secret_name(const std::string& base) const {
  const Secrets there(gateway_->data_directory);
  int number = 2;
  while (secrets_.contains(numbered(base, number)) || there.find(numbered(base, number))) ++number;
  return numbered(base, number);
}

std::string Importer::add_secret(const std::string& variable, const std::string& value) {
  const auto name = secret_name(variable, value);
  const auto reference = fmt::format("${{secret:{}}}", name);
  const auto there = gateway_ ? Secrets(gateway_->data_directory).find(name) : std::nullopt;
  const bool is_taken = with_keys_ && !value.empty();
  if (there && is_taken && *there != value) {
    leave("key " + variable,
          fmt::format("there is a secret {} with another value, which stays and is used: to use this "
                      "key, store it as another one (agw secret set {}) and name that",
                      name, free_secret_name(name)));
    ++counts_["secrets"].kept;
  } else if (there) {
    ++counts_["secrets"].kept;
  } else if (is_taken) {
    if (writes_) request("PUT", path({"secrets", name}), {{"value", value}});
    ++counts_["secrets"].created;
  } else {
    leave("key " + variable, fmt::format("{}: agw secret set {}",
                                         value.empty() ? "is in a variable of the other program"
                                                       : "keys are taken only with --with-keys; or set it",
                                         name));
  }
  return reference;
}

}  // namespace agw::cli
