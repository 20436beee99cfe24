#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/described.hpp"
#include "models/model.hpp"

namespace agw {

/// The price of a model, in USD per million tokens.
struct Price {
  double input = 0;
  double output = 0;
  double cache_read = 0;
  double cache_write = 0;

  bool operator==(const Price&) const = default;
};
const Description& describe(Tag<Price>);

/// The cost of `usage` at `price`, in USD.
double cost(const Price& price, const Usage& usage);

/// The amount that caching saved, in USD; negative if writing to the cache cost more than reading from it saved.
double saved(const Price& price, const Usage& usage);

/// The user's own prices. They override those that ship with the gateway.
/// Example: src/models/prices_test.cpp: PricesTest.AreFoundByProviderAndModelThenByModel
class Prices {
public:
  Prices() = default;

  /// Reads `prices.yaml`: `<provider>/<model>` or `<model>` -> `{input, output, cache_read, cache_write}`. The last two
  /// default to `input`. A missing file is treated as empty. Throws StartError `<file>:<line>: <key>: <why>` if the
  /// file is invalid.
  explicit Prices(const std::filesystem::path& file);

  /// The price of the model: its price at this provider if there is one, else its general price.
  std::optional<Price> find(std::string_view provider, std::string_view model) const;

private:
  std::map<std::string, Price, std::less<>> prices_;
};

}  // namespace agw
