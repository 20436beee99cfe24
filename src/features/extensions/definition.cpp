#include "features/extensions/definition.hpp"

#include <mutex>
#include <stdexcept>

namespace agw {

struct Definition::State {
  std::string text;
  std::once_flag parsed;
  json::object members;
};

Definition::Definition() : Definition(json::object{}) {}

Definition::Definition(json::object members) : state_(std::make_shared<State>()) {
  json::value value(std::move(members));
  state_->text = to_json(value);
  std::call_once(state_->parsed, [&] { state_->members = std::move(value.get_object()); });
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
    state_->members = std::move(value->get_object());
  });
  return state_->members;
}

}  // namespace agw
