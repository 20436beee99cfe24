#include "features/cluster/node_seal.hpp"

#include <openssl/crypto.h>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/text/numbers.hpp"

namespace agw {

namespace {

std::string_view take_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

std::string node_seal(std::string_view secret, const NodeCall& call) {
  AGW_ASSERT(!secret.empty());
  const auto text = fmt::format("call\n{}\n{}\n{}\n{}\n{}\n{}", call.from, call.epoch, call.number, call.to,
                                call.to_epoch, call.path);
  return fmt::format("{} {} {} {}", call.from, call.epoch, call.number, to_hex(hmac_sha256(secret, text)));
}

bool NodeSeals::accept(std::string_view seal, const std::string& path) {
  auto rest = seal;
  NodeCall call{.from = std::string(take_word(rest)), .to = node_, .to_epoch = epoch_, .path = path};
  const auto epoch = parse_number<std::int64_t>(take_word(rest));
  const auto number = parse_number<std::int64_t>(take_word(rest));
  if (!epoch || !number) return false;
  call.epoch = *epoch;
  call.number = *number;
  const auto wanted = node_seal(secret_, call);
  if (seal.size() != wanted.size() || CRYPTO_memcmp(seal.data(), wanted.data(), wanted.size()) != 0) return false;
  return call.from != node_ && is_new(call);
}

bool NodeSeals::is_new(const NodeCall& call) {
  AGW_ASSERT(call.from != node_);
  auto& seen = seen_[call.from];
  if (call.epoch < seen.epoch) return false;
  if (call.epoch > seen.epoch) seen = {.epoch = call.epoch};
  const auto highest = seen.numbers.empty() ? 0 : *seen.numbers.rbegin();
  if (call.number <= highest - window || !seen.numbers.insert(call.number).second) return false;
  while (*seen.numbers.begin() <= *seen.numbers.rbegin() - window) seen.numbers.erase(seen.numbers.begin());
  AGW_ASSERT(seen.epoch == call.epoch);
  AGW_ASSERT(std::cmp_less_equal(seen.numbers.size(), window));
  return true;
}

}  // namespace agw
