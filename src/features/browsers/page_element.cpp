#include "features/browsers/page_element.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// In characters.
constexpr std::size_t max_selector = 1'000;
constexpr std::size_t max_tag = 100;
constexpr std::size_t max_text = 200;
constexpr std::size_t max_html = 2'000;
constexpr double max_place = 100'000;

/// The element is copied into a document that loads nothing and runs no scripts. `id` is read as an attribute, because
/// a form has its fields as properties. The limits keep the answer small; `inspected_message` has the real ones.
constexpr auto script = R"js(((x, y) => {
  const element = document.elementFromPoint(x, y);
  if (!element) return null;
  const isUnique = (selector) => document.querySelectorAll(selector).length === 1;
  const stepTo = (part) => {
    const id = Element.prototype.getAttribute.call(part, 'id');
    if (id && isUnique('#' + CSS.escape(id))) return '#' + CSS.escape(id);
    const name = CSS.escape(part.localName);
    const alike = [...(part.parentElement?.children ?? [])].filter((one) => one.localName === part.localName);
    return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(part) + 1})` : name;
  };
  let selector = '';
  for (let part = element; part && !(selector && isUnique(selector)); part = part.parentElement)
    selector = stepTo(part) + (selector && ' > ') + selector;
  const copy = document.implementation.createHTMLDocument('').importNode(element, true);
  const shown = ['id', 'class', 'name', 'type', 'autocomplete', 'placeholder'];
  for (const field of [copy, ...copy.querySelectorAll('input')]) {
    if (!field.matches('input:is([type=password i], [autocomplete*=password i])')) continue;
    for (const name of field.getAttributeNames()) if (!shown.includes(name)) field.removeAttribute(name);
  }
  const start = (text, length) => String(text).slice(0, length).toWellFormed();
  const { left, top, width, height } = element.getBoundingClientRect();
  return {
    selector: start(selector, 3000), tag: element.localName, text: start(element.innerText ?? element.textContent, 600),
    html: start(copy.outerHTML, 6000), x: left, y: top, width, height,
  };
}))js";

/// Ends with `…` if something is left out.
std::string start_of(const json::object& element, std::string_view name, std::size_t max_characters) {
  auto text = string_or_empty(element, name);
  if (first_characters(text, max_characters).size() == text.size()) return text;
  return std::string(first_characters(text, max_characters - 1)) + "…";
}

double place_in(const json::object& element, std::string_view name) {
  const auto* value = element.if_contains(name);
  const auto place = value && value->is_number() ? value->to_number<double>() : 0;
  return std::round(std::clamp(place, -max_place, max_place));
}

}  // namespace

std::string element_at(double x, double y) { return fmt::format("{}({}, {})", script, x, y); }

json::object inspected_message(const json::value& found) {
  const auto* element = found.if_object();
  if (!element) throw NotFound("no element there");
  json::object message{{"type", "inspected"}};
  for (const auto& [name, limit] :
       {std::pair{"selector", max_selector}, {"tag", max_tag}, {"text", max_text}, {"html", max_html}})
    message[name] = start_of(*element, name, limit);
  for (const auto* name : {"x", "y", "width", "height"}) message[name] = place_in(*element, name);
  return message;
}

}  // namespace agw
