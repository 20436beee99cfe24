#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The one-time code that pairs a new device, and the limit on guesses. There are only a million codes, so five wrong
/// ones within a minute lock pairing for a minute, even for the right code.
/// Example: src/features/access/pairing_test.cpp: PairingTest.ACodePairsOneDevice
class Pairing {
public:
  /// The time of a monotonic clock that advances while the host sleeps.
  using Moment = std::chrono::milliseconds;

  static constexpr std::chrono::minutes validity{10};
  static constexpr std::chrono::minutes brief_validity{1};  ///< for a client that uses the code at once
  static constexpr std::chrono::minutes failure_window{1};

  /// Whether pairing is locked after that many wrong codes, given the time since the latest one.
  static bool locks(std::size_t failures, Moment since_latest);
  static std::string random_digits();

  /// Returns six random digits; invalidates the previous code.
  std::string new_code(Moment now, std::chrono::seconds valid_for = validity);
  void void_code() { code_.reset(); }

  /// Whether pairing is locked: every code is rejected.
  bool locked(Moment now) const;

  enum class Verdict { right, wrong, locked };
  /// Checks a code. A right code is consumed and clears the count of wrong ones. Attempts during a lockout are not
  /// counted.
  Verdict judge(std::string_view code, Moment now);

private:
  struct Code {
    std::string digits;
    Moment expires_at;
  };
  bool is_right(std::string_view code, Moment now) const;

  std::optional<Code> code_;
  std::deque<Moment> failures_;  ///< those within the failure window, oldest first
};

}  // namespace agw
