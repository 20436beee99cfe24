#include "fuzz/support/json_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/json/json.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace agw::fuzzing {

namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

/// Collects all values of a document, starting with the document itself.
void collect(json::value& value, std::vector<json::value*>& found) {
  found.push_back(&value);
  if (auto* object = value.if_object()) {
    for (auto& member : *object) collect(member.value(), found);
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) collect(element, found);
  }
}

/// Changes bytes with the fuzzer, which records the strings that the code compares.
json::string changed_text(std::string text) {
  const auto used = text.size();
  text.resize(std::max<std::size_t>(64, used + used / 2));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), used, text.size()));
  return json::string(to_utf8(text));
}

json::value other_value(Random& random, const std::vector<json::value*>& found) {
  switch (below(random, 10)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random()) - (1 << 30);
    case 3:
      return std::int64_t{1} << below(random, 63);
    case 4:
      return 0.5 * static_cast<double>(random());
    case 5:
      return json::object();
    case 6:
      return json::array();
    case 7:
      return changed_text("");
    default:
      return *found[below(random, found.size())];
  }
}

void change_object(json::object& object, Random& random, const std::vector<json::value*>& found) {
  if (object.empty()) {
    object.emplace(changed_text(""), nullptr);
    return;
  }
  const auto member = object.begin() + below(random, object.size());
  const std::string name(member->key());
  switch (below(random, 3)) {
    case 0:
      object.erase(name);
      break;
    case 1: {
      auto moved = std::move(member->value());
      object.erase(name);
      object.emplace(changed_text(name), std::move(moved));
      break;
    }
    default: {
      auto other = other_value(random, found);
      object[name] = std::move(other);
    }
  }
}

void change_array(json::array& array, Random& random, const std::vector<json::value*>& found) {
  auto other = other_value(random, found);
  const auto place = array.begin() + below(random, array.size() + 1);
  if (place == array.end() || random() % 2 == 0)
    array.insert(place, std::move(other));
  else
    array.erase(place);
}

void change(json::value& value, Random& random, const std::vector<json::value*>& found) {
  if (random() % 4 == 0) {
    auto other = other_value(random, found);
    value = random() % 4 == 0 ? json::value(json::array{std::move(other), value}) : std::move(other);
  } else if (auto* object = value.if_object()) {
    change_object(*object, random, found);
  } else if (auto* array = value.if_array()) {
    change_array(*array, random, found);
  } else if (auto* text = value.if_string()) {
    value = changed_text(std::string(*text));
  } else {
    value = other_value(random, found);
  }
}

/// Returns an empty string if the text is not JSON or becomes too long.
std::string mutated(std::string_view text, std::size_t max_size, Random& random) {
  auto document = parse_json(text);
  if (!document) return {};
  // Copied values come from a second copy of the document, because a changed value may be part of a copied one.
  auto source = *document;
  std::vector<json::value*> values, sources;
  collect(*document, values);
  collect(source, sources);
  change(*values[below(random, values.size())], random, sources);
  auto changed = to_json(*document);
  return changed.size() <= max_size ? changed : std::string();
}

std::size_t put(std::string_view text, std::uint8_t* data) {
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace

std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Random random(seed);
  if (random() % 4 != 0) {
    const auto changed = mutated({reinterpret_cast<const char*>(data), size}, max_size, random);
    if (!changed.empty()) return put(changed, data);
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

std::size_t mutate_json_lines(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Random random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  std::size_t begin = 0;
  for (auto line = below(random, lines); line > 0; --line) begin = text.find('\n', begin) + 1;
  const auto end = std::min(text.find('\n', begin), text.size());
  const auto changed = mutated(std::string_view(text).substr(begin, end - begin), max_size, random);
  const auto all = text.substr(0, begin) + changed + text.substr(end);
  if (changed.empty() || all.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  return put(all, data);
}

}  // namespace agw::fuzzing
