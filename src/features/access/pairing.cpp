#include "features/access/pairing.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"

namespace agw {

namespace {

constexpr std::size_t failures_that_lock = 5;
constexpr int last_code = 999'999;
constexpr std::size_t code_digits = 6;
static_assert(Pairing::brief_validity < Pairing::validity);
// Guessing all codes takes longer than one is valid.
static_assert(last_code / failures_that_lock > Pairing::validity / Pairing::failure_window);

}  // namespace

bool Pairing::locks(std::size_t failures, Moment since_latest) {
  return failures >= failures_that_lock && since_latest < failure_window;
}

std::string Pairing::random_digits() {
  std::random_device kernel("getentropy");
  auto digits = fmt::format("{:06}", std::uniform_int_distribution<int>(0, last_code)(kernel));
  AGW_ASSERT(digits.size() == code_digits);
  return digits;
}

std::string Pairing::new_code(Moment now, std::chrono::seconds valid_for) {
  AGW_ASSERT(valid_for > std::chrono::seconds{0});
  AGW_ASSERT(valid_for <= validity);
  return code_.emplace(Code{random_digits(), now + valid_for}).digits;
}

bool Pairing::locked(Moment now) const { return !failures_.empty() && locks(failures_.size(), now - failures_.back()); }

Pairing::Verdict Pairing::judge(std::string_view code, Moment now) {
  if (locked(now)) return Verdict::locked;
  if (is_right(code, now)) {
    failures_.clear();
    void_code();

    return Verdict::right;
  }
  while (!failures_.empty() && failures_.front() + failure_window <= now) failures_.pop_front();
  failures_.push_back(now);
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(failures_));
  AGW_DEBUG_ASSERT(failures_.size() <= failures_that_lock);
  return Verdict::wrong;
}

bool Pairing::is_right(std::string_view code, Moment now) const {
  return code_ && now < code_->expires_at && are_equal_secrets(code, code_->digits);
}

}  // namespace agw
