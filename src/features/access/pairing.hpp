#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The one-time code that lets a new device in, and the limit on guessing it. A million codes are few: five wrong ones
/// within a minute close the door for a minute, to the right one too.
class Pairing {
public:
  /// Of a clock that only goes forward, and on while the host sleeps.
  using Moment = std::chrono::milliseconds;

  static constexpr std::chrono::minutes validity{10};
  static constexpr std::chrono::minutes brief_validity{1};  ///< for whoever uses the code at once

  /// Six random digits; the code before it is void.
  std::string new_code(Moment now, std::chrono::seconds valid_for = validity);
  void void_code() { code_.reset(); }

  /// Whether no code is judged at all.
  bool locked(Moment now) const;

  enum class Verdict { right, wrong, locked };
  /// A right code is used up and clears the count of wrong ones. What comes while it is locked is not counted.
  Verdict judge(std::string_view code, Moment now);

private:
  struct Code {
    std::string digits;
    Moment expires_at;
  };
  bool is_right(std::string_view code, Moment now) const;

  std::optional<Code> code_;
  std::deque<Moment> failures_;  ///< those that still count, oldest first
};

}  // namespace agw
