#include "features/client_tools/service.hpp"

#include <utility>

#include "api/error.hpp"
#include "api/socket_messages.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/client_tools/lent_run.hpp"

namespace agw {

namespace {

constexpr std::size_t large_message =
    256 * 1024;  // in bytes: may contain so many values that parsing would block the loop

/// Removes the lender when it is destroyed: runs keep it for longer than its socket exists.
struct UntilClosed {
  std::map<std::string, std::shared_ptr<Lender>>& all;
  const std::string& id;
  ~UntilClosed() {
    const auto removed = all.extract(id);
    AGW_ASSERT(removed);
    removed.mapped()->leave();
  }
};

}  // namespace

Task<> ClientTools::serve(Request& /*request*/, MessageSocket& socket) {
  const auto id = new_id();
  const auto lender = std::make_shared<Lender>(socket);
  lenders_[id] = lender;
  const UntilClosed guard{lenders_, id};
  while (auto text = co_await socket.read()) {
    json::object reply;
    try {
      reply = co_await take(std::move(*text), *lender, id);
    } catch (const ApiError& error) {
      reply = {{"type", "error"}, {"error", error.error()}};
    }
    if (!reply.empty()) socket.send(to_json(reply));
  }
}

/// Returns the reply to a message; empty if it has none.
Task<json::object> ClientTools::take(std::string text, Lender& lender, const std::string& id) const {
  auto message = co_await parse(std::move(text));
  const auto type = string_or_empty(message, "type");
  if (type == "offer") {
    lender.offer(read_offer(message));
    co_return json::object{{"type", "offered"}, {"id", id}};
  }
  if (type != "result") throw BadRequest("type must be offer or result");
  // A result for which nothing waits has arrived too late.
  lender.take_result(std::move(message));
  co_return json::object();
}

Task<json::object> ClientTools::parse(std::string text) const {
  auto parsed = co_await blocking_.run_if(text.size() > large_message, [&text] { return parse_json(text); });
  co_return message_object(std::move(parsed));
}

std::shared_ptr<RunClient> ClientTools::lend(const std::string& id) const {
  const auto found = lenders_.find(id);
  if (found == lenders_.end()) throw BadRequest("client tools not found");
  return std::make_shared<LentRun>(found->second);
}

}  // namespace agw
