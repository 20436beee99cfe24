#pragma once

#include <cmath>
#include <random>
#include <string>

namespace agw::bench {

/// Generates text with the word frequencies of a language: the n-th of 50,000 words (`w1`, `w2`, …) is n times less
/// frequent than the first.
class Words {
public:
  explicit Words(unsigned seed) : random_(seed) {}

  std::string text(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += word(1, vocabulary) + " ";
    return text;
  }

  /// Returns a word with a rank between `first` and `last`, with the frequencies of the text.
  std::string word(double first, double last) {
    return "w" + std::to_string(static_cast<int>(first * std::exp(uniform_(random_) * std::log(last / first))));
  }

  int number(int first, int last) { return std::uniform_int_distribution(first, last)(random_); }

private:
  static constexpr double vocabulary = 50'000;
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace agw::bench
