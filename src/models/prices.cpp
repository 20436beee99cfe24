#include "models/prices.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/error.hpp"
#include "base/json/yaml.hpp"
#include "config/environment.hpp"

namespace agw {

namespace {

constexpr double million = 1e6;
/// Keeps every sum of costs finite.
constexpr double max_price = million;

/// Reads a price file. Keeps the file's name for errors.
class Reader {
public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  std::map<std::string, Price, std::less<>> read(const std::string& text) const {
    std::map<std::string, Price, std::less<>> prices;
    const auto root = load(text);
    if (root.IsNull()) return prices;
    if (!root.IsMap()) fail(root.Mark(), "prices", "must be a map from a model's name to its prices");
    for (const auto& entry : root) {
      const auto model = key(entry.first);
      if (!prices.emplace(model, price(model, entry.second)).second) fail(entry.first.Mark(), model, "is given twice");
    }
    return prices;
  }

private:
  [[noreturn]] void fail(int line, std::string_view key, std::string_view why) const {
    throw StartError(ExitStatus::usage, fmt::format("{}:{}: {}: {}", file_.string(), line, key, why));
  }

  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view key, std::string_view why) const {
    fail(mark.line + 1, key, why);
  }

  YAML::Node load(const std::string& text) const {
    try {
      return load_yaml_document(text);
    } catch (const YAML::Exception& error) {
      fail(error.mark, "yaml", message_of(error));
    }
  }

  std::string key(const YAML::Node& node) const {
    if (!node.IsScalar() || node.Scalar().empty()) fail(node.Mark(), "prices", "a model's name must be a string");
    return node.Scalar();
  }

  Price price(const std::string& model, const YAML::Node& node) const {
    if (!node.IsMap()) fail(node.Mark(), model, "must be a map with input and output");
    std::optional<double> input, output, cache_read, cache_write;
    for (const auto& entry : node) {
      const auto name = key(entry.first);
      auto* member = name == "input"         ? &input
                     : name == "output"      ? &output
                     : name == "cache_read"  ? &cache_read
                     : name == "cache_write" ? &cache_write
                                             : nullptr;
      if (!member) {
        fail(entry.first.Mark(), model + "." + name, "is not one of input, output, cache_read, cache_write");
      }
      if (*member) fail(entry.first.Mark(), model + "." + name, "is given twice");
      *member = amount(model + "." + name, entry.second);
    }
    if (!input) fail(node.Mark(), model + ".input", "is missing");
    if (!output) fail(node.Mark(), model + ".output", "is missing");
    return {*input, *output, cache_read.value_or(*input), cache_write.value_or(*input)};
  }

  double amount(const std::string& key, const YAML::Node& node) const {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !(value >= 0 && value <= max_price)) {
      fail(node.Mark(), key, "must be a number from 0 to 1000000, in USD per million tokens");
    }
    return value;
  }

  const std::filesystem::path& file_;
};

}  // namespace

double cost(const Price& price, const Usage& usage) {
  return (static_cast<double>(usage.input_tokens) * price.input +
          static_cast<double>(usage.output_tokens) * price.output +
          static_cast<double>(usage.cache_read_tokens) * price.cache_read +
          static_cast<double>(usage.cache_write_tokens) * price.cache_write) /
         million;
}

double saved(const Price& price, const Usage& usage) {
  return (static_cast<double>(usage.cache_read_tokens) * (price.input - price.cache_read) +
          static_cast<double>(usage.cache_write_tokens) * (price.input - price.cache_write)) /
         million;
}

Prices::Prices(const std::filesystem::path& file) {
  if (const auto text = read_start_file(file)) prices_ = Reader(file).read(*text);
}

std::optional<Price> Prices::find(std::string_view provider, std::string_view model) const {
  if (prices_.empty()) return std::nullopt;
  auto found = prices_.find(fmt::format("{}/{}", provider, model));
  if (found == prices_.end()) found = prices_.find(model);
  if (found == prices_.end()) return std::nullopt;
  return found->second;
}

}  // namespace agw
