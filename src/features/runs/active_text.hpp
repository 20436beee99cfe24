#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/text/long_text.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// Active runs as they are now, as a JSON array that is written while it is read: the log of a run only grows.
/// Example: src/features/runs/service_test.cpp: Runs.AreWrittenInPiecesWhileTheyGoOn
class ActiveText : public LongText {
public:
  void add(ActiveRunPointer run, const json::object& members);

  std::string next() override;

private:
  /// One run: its members around its text and its reasoning.
  struct Part {
    ActiveRunPointer run;
    std::string head;
    std::string tail;
    std::size_t text;       ///< bytes of it
    std::size_t reasoning;  ///< bytes of it
  };
  enum class Place { head, text, between, reasoning, tail };

  std::string piece_of(std::string_view whole, Place next);

  std::deque<Part> left_;
  Place place_ = Place::head;
  std::size_t written_ = 0;  ///< bytes of the text or reasoning
  bool opened_ = false;
  bool closed_ = false;
};

}  // namespace agw
