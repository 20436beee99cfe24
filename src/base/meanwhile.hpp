#pragma once

namespace agw {

/// Marks that something goes on, for as long as it lives.
class Meanwhile {
public:
  explicit Meanwhile(bool& mark) : mark_(mark) { mark_ = true; }
  ~Meanwhile() { mark_ = false; }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

private:
  bool& mark_;
};

}  // namespace agw
