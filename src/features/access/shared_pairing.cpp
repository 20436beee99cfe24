#include "features/access/shared_pairing.hpp"

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "features/access/pairing_store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

std::int64_t in_milliseconds(std::chrono::milliseconds duration) { return duration.count(); }

bool is_right_code(Connection& connection, const std::string& code, std::int64_t now) {
  const auto right = pairing_store::code(connection, now);
  return right && are_equal_secrets(code, *right);
}

Pairing::Verdict judged(Connection& connection, const std::string& code) {
  // Two nodes must not both count the last guess, or accept the code.
  AGW_ASSERT(connection.in_transaction());
  const auto now = pairing_store::now(connection);
  const auto failures = pairing_store::failures(connection);
  if (Pairing::locks(failures.count, std::chrono::milliseconds(now - failures.latest_at)))
    return Pairing::Verdict::locked;
  if (is_right_code(connection, code, now)) {
    pairing_store::forget_failures(connection, now);
    pairing_store::forget_code(connection);
    return Pairing::Verdict::right;
  }
  pairing_store::forget_failures(connection, now - in_milliseconds(Pairing::failure_window));
  pairing_store::add_failure(connection, now);
  return Pairing::Verdict::wrong;
}

}  // namespace

Task<std::string> SharedPairing::new_code(std::chrono::seconds valid_for) {
  AGW_ASSERT(valid_for > std::chrono::seconds{0});
  auto code = Pairing::random_digits();
  co_await database_.write([code, valid_for](Connection& connection) {
    pairing_store::set_code(connection, code, pairing_store::now(connection) + in_milliseconds(valid_for));
  });
  co_return code;
}

Task<> SharedPairing::token_replaced() {
  co_await database_.write([](Connection& connection) {
    pairing_store::forget_code(connection);
    pairing_store::notify_token_change(connection);
  });
}

Task<Pairing::Verdict> SharedPairing::judge(std::string code) {
  co_return co_await database_.write([code](Connection& connection) { return judged(connection, code); });
}

}  // namespace agw
