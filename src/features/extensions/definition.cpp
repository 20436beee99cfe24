#include "features/extensions/definition.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/json/monotonic_resource.hpp>

namespace agw {

namespace {

/// In bytes of text. From this size on, a definition may have so many members that freeing each would block the loop.
constexpr std::size_t large_definition = 64 * 1024;

}  // namespace

struct Definition::State {
  std::string text;
  std::once_flag parsed;
  std::optional<json::object> members;

  /// The members of a large definition are allocated in a few blocks, so that destroying the last copy is fast on any
  /// thread.
  void take(json::object read) {
    if (text.size() < large_definition)
      members.emplace(std::move(read));
    else
      members.emplace(std::move(read), json::make_shared_resource<json::monotonic_resource>());
  }
};

Definition::Definition() {
  // Each row of the table begins with one, and std::call_once makes a system call for each state.
  static const Definition empty(json::object{});
  state_ = empty.state_;
}

Definition::Definition(json::object members) : state_(std::make_shared<State>()) {
  json::value value(std::move(members));
  state_->text = to_json(value);
  std::call_once(state_->parsed, [&] { state_->take(std::move(value.get_object())); });
}

Definition Definition::stored(std::string_view text) {
  auto state = std::make_shared<State>();
  state->text = text;
  return Definition(std::move(state));
}

const std::string& Definition::text() const { return state_->text; }

const json::object& Definition::members() const {
  std::call_once(state_->parsed, [&] {
    auto value = parse_json(state_->text);
    if (!value || !value->is_object()) throw std::runtime_error("a stored definition is not a JSON object");
    state_->take(std::move(value->get_object()));
  });
  return *state_->members;
}

}  // namespace agw
