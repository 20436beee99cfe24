#include "io/proxy/program_secrets.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"

namespace agw {

namespace {

/// Servers reject longer heads.
constexpr std::size_t max_value_bytes = 8 * 1024;
constexpr std::size_t min_random_characters = 36;
constexpr std::size_t max_random_characters = 128;
static_assert(min_random_characters <= max_random_characters);

/// Known prefixes of keys, which programs check before they use a key. Longer ones come first.
constexpr std::array<std::string_view, 34> known_prefixes{
    "github_pat_", "sk-ant-api03-", "sk-ant-", "sk-proj-", "sk-or-v1-", "sk_live_", "sk_test_", "rk_live_", "rk_test_",
    "pk_live_",    "pk_test_",      "glpat-",  "gldt-",    "glrt-",     "xoxb-",    "xoxp-",    "xoxa-",    "xapp-",
    "npm_",        "pypi-",         "ghp_",    "gho_",     "ghu_",      "ghs_",     "ghr_",     "hf_",      "gsk_",
    "dop_v1_",     "shpat_",        "secret_", "ntn_",     "lin_api_",  "r8_",      "sk-"};

std::string_view prefix_of(std::string_view secret) {
  const auto found =
      std::ranges::find_if(known_prefixes, [&](std::string_view each) { return secret.starts_with(each); });
  return found == known_prefixes.end() ? std::string_view{} : *found;
}

std::string random_letters(std::size_t count) {
  // Uses 62 of 64 values; the other two are drawn again.
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string out;
  std::array<unsigned char, 64> bytes;
  while (out.size() < count) {
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) continue;
    for (const auto byte : bytes) {
      if (const std::size_t at = byte & 63u; at < characters.size() && out.size() < count) out += characters[at];
    }
  }
  return out;
}

void require_usable(const std::string& name, std::string_view value) {
  if (!fits_in_head(value)) {
    throw ProgramSecretError(fmt::format(
        "the secret {0} contains a line end or another control character, which no request can carry: set it again "
        "with `agw secret set {0}`",
        name));
  }
  if (value.size() > max_value_bytes)
    throw ProgramSecretError(fmt::format("the secret {} is longer than 8 KiB, which no request can carry", name));
}

bool matches_any(const std::vector<HostPattern>& patterns, const HostPort& target) {
  return std::ranges::any_of(patterns, [&](const HostPattern& each) { return each.matches(target); });
}

bool is_for(const DeclaredSecret& declared, const HostPort& target) {
  return matches_any(declared.hosts, target) && !matches_any(declared.pass_through, target);
}

}  // namespace

std::string new_stand_in(std::string_view secret) {
  const auto prefix = prefix_of(secret);
  AGW_ASSERT(prefix.size() <= secret.size());
  const auto length = prefix.empty()
                          ? min_random_characters
                          : std::clamp(secret.size() - prefix.size(), min_random_characters, max_random_characters);
  return std::string(prefix) + random_letters(length);
}

ProgramSecrets::ProgramSecrets(std::vector<DeclaredSecret> declared, TlsTrust trust, Find find)
    : declared_(std::move(declared)), trust_(std::move(trust)), find_(std::move(find)) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(find_);
  AGW_ASSERT(trust_.roots);
  AGW_ASSERT(trust_.authority);

  for (const auto& each : declared_) {
    const auto value = find_(each.secret);
    require_usable(each.secret, value);
    stand_ins_[each.variable] = new_stand_in(value);
  }
  AGW_ASSERT(stand_ins_.size() <= declared_.size());
  certificates_ = trust_.roots->certificates();
  if (!certificates_.ends_with('\n')) certificates_ += '\n';
  certificates_ += trust_.authority->certificate();
}

bool ProgramSecrets::decrypts(const HostPort& target) const {
  const auto passes = [&](const DeclaredSecret& each) { return matches_any(each.pass_through, target); };
  const auto is_declared = [&](const DeclaredSecret& each) { return matches_any(each.hosts, target); };
  return std::ranges::any_of(declared_, is_declared) && std::ranges::none_of(declared_, passes);
}

std::vector<std::string> ProgramSecrets::needed_in(std::string_view raw, const Head& head,
                                                   const HostPort& target) const {
  std::vector<std::string> needed;
  if (!may_be_filled(head, target)) return needed;
  for (const auto& each : declared_) {
    if (is_for(each, target) && holds_stand_in(raw, stand_ins_.at(each.variable))) needed.push_back(each.variable);
  }
  return needed;
}

std::vector<Filling> ProgramSecrets::fillings(const std::vector<std::string>& variables) const {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<Filling> found;
  for (const auto& each : declared_) {
    if (!contains(variables, each.variable)) continue;
    auto value = find_(each.secret);
    require_usable(each.secret, value);
    found.push_back({.stand_in = stand_ins_.at(each.variable), .value = std::move(value)});
  }
  return found;
}

}  // namespace agw
