#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/described.hpp"
#include "models/model.hpp"

namespace agw {

/// What a model costs, in USD per million tokens.
struct Price {
  double input = 0;
  double output = 0;
  double cache_read = 0;
  double cache_write = 0;

  bool operator==(const Price&) const = default;
};
const Description& describe(Tag<Price>);

/// What tokens cost at that price, in USD.
double cost(const Price& price, const Usage& usage);

/// The prices that a person set: they go before those that ship with the gateway.
class Prices {
public:
  Prices() = default;

  /// Reads `prices.yaml`: `<provider>/<model>` or `<model>` -> `{input, output, cache_read, cache_write}`. Without the
  /// last two their tokens cost what input does. A file that is not there holds no prices; a wrong one is a StartError
  /// `<file>:<line>: <key>: <why>`.
  explicit Prices(const std::filesystem::path& file);

  /// What the file says of the model, of this provider first.
  std::optional<Price> find(std::string_view provider, std::string_view model) const;

private:
  std::map<std::string, Price, std::less<>> prices_;
};

}  // namespace agw
