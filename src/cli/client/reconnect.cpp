#include <chrono>

#include <fmt/format.h>

#include "base/async/cancellation.hpp"
#include "cli/client/event_stream.hpp"
#include "cli/output/answer_printer.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto reconnect_limit = 15s;
constexpr auto reconnect_interval = 100ms;

}  // namespace

Task<std::unique_ptr<EventStream>> reconnect(FoundGateway& gateway, const std::optional<std::string>& data_dir,
                                             const std::string& thread_id, AnswerPrinter& printer, bool approvals) {
  const auto deadline = std::chrono::steady_clock::now() + reconnect_limit;
  StopSource never;
  for (bool noted = false;; noted = true) {
    std::exception_ptr failure;
    try {
      gateway = find_gateway(data_dir);
      co_return co_await EventStream::open(gateway, thread_id, approvals);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    if (!noted) printer.note("(the connection broke; waiting for the gateway)");
    if (std::chrono::steady_clock::now() > deadline) {
      printer.error(fmt::format("thread {} keeps the answer so far", thread_id));
      std::rethrow_exception(failure);
    }
    co_await pause(never, reconnect_interval);
  }
}

}  // namespace agw::cli
