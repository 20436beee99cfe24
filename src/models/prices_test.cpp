#include "models/prices.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/id.hpp"

namespace agw {
namespace {

class PricesTest : public ::testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(file_); }

  Prices read(std::string_view text) {
    std::ofstream(file_) << text;
    return Prices(file_);
  }

  /// The error without the file's name.
  std::string error(std::string_view text) {
    try {
      read(text);
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(file_.string())) << message;
      return message.substr(file_.string().size());
    }
    return "none";
  }

  std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("prices-" + new_id() + ".yaml");
};

TEST_F(PricesTest, AreFoundByProviderAndModelThenByModel) {
  const auto prices =
      read("m: {input: 1, output: 2}\nwork/m: {input: 3, output: 4, cache_read: 0.5, cache_write: 6}\n");
  EXPECT_EQ(prices.find("work", "m"), (Price{3, 4, 0.5, 6}));
  EXPECT_EQ(prices.find("home", "m"), (Price{1, 2, 1, 1}));
  EXPECT_EQ(prices.find("home", "other"), std::nullopt);
}

TEST_F(PricesTest, NeedNoFile) {
  EXPECT_EQ(Prices(file_).find("a", "b"), std::nullopt);
  EXPECT_EQ(read("# nothing yet\n").find("a", "b"), std::nullopt);
}

TEST_F(PricesTest, StandInARegularFile) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  try {
    const Prices prices(file_);
    FAIL() << "was taken";
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_EQ(error.what(), file_.string() + ": cannot be read: it is no regular file");
  }
}

TEST_F(PricesTest, AreNotReadFromAFileWithoutMeasure) {
  EXPECT_EQ(error("a: {input: 1}\n#" + std::string(1024 * 1024, ' ')), ": is larger than 1 MiB");
}

TEST_F(PricesTest, AWrongFileIsAPreciseError) {
  EXPECT_EQ(error("- a\n"), ":1: prices: must be a map from a model's name to its prices");
  EXPECT_EQ(error("a: {input: 1, output: 1}\nm: 3\n"), ":2: m: must be a map with input and output");
  EXPECT_EQ(error("m:\n  input: 1\n  outputs: 2\n"),
            ":3: m.outputs: is not one of input, output, cache_read, cache_write");
  EXPECT_EQ(error("m:\n  input: cheap\n  output: 2\n"),
            ":2: m.input: must be a number from 0 to 1000000, in USD per million tokens");
  EXPECT_EQ(error("m: {input: -1, output: 2}\n"),
            ":1: m.input: must be a number from 0 to 1000000, in USD per million tokens");
  EXPECT_EQ(error("m: {input: .inf, output: 2}\n"),
            ":1: m.input: must be a number from 0 to 1000000, in USD per million tokens");
  EXPECT_EQ(error("m: {input: 1e308, output: 2}\n"),
            ":1: m.input: must be a number from 0 to 1000000, in USD per million tokens");
  EXPECT_EQ(error("m: {input: 1, output: 2, input: 3}\n"), ":1: m.input: is given twice");
  EXPECT_EQ(error("m: {input: 1, output: 2}\nm: {input: 1, output: 2}\n"), ":2: m: is given twice");
  EXPECT_EQ(error("m: {input: 1}\n"), ":1: m.output: is missing");
  EXPECT_EQ(error(", b\n"), ":1: yaml: must be one document");
  EXPECT_EQ(error("m: {input: 1, output: 2}\n---\nm: 3\n"), ":2: yaml: must be one document");
  EXPECT_TRUE(error("m: {input: 1\n").starts_with(":2: yaml: ")) << error("m: {input: 1\n");
}

TEST(Cost, CountsEachKindOfToken) {
  const Price price{.input = 2, .output = 10, .cache_read = 0.2, .cache_write = 2.5};
  const Usage usage{
      .input_tokens = 1'000'000, .output_tokens = 500'000, .cache_read_tokens = 100'000, .cache_write_tokens = 200'000};
  EXPECT_DOUBLE_EQ(cost(price, usage), 2 + 5 + 0.02 + 0.5);
}

}  // namespace
}  // namespace agw
