#pragma once

#include <string>
#include <string_view>

namespace agw {

/// A shared library of the system that is loaded when it is first needed: loading it takes longer than starting without
/// it. It stays loaded.
class Library {
public:
  /// `package` is what a person has to install where it, or a part of it, is missing.
  Library(const char* file, std::string_view package);

  /// Fills in `function` by its name.
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(symbol(name));
  }

  /// What is missing, and what to do; empty where all was found.
  const std::string& problem() const { return problem_; }

private:
  void* symbol(const char* name);

  std::string file_;
  std::string package_;
  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace agw
