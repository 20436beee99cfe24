#pragma once

#include <string>
#include <string_view>

namespace agw {

/// A shared library that is loaded at its first use, because loading it takes longer than the rest of the start. It is
/// never unloaded.
class DynamicLibrary {
public:
  /// `package` names the package to install if the library or a symbol is missing.
  DynamicLibrary(const char* file, std::string_view package);

  /// Looks up `function` by name.
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(symbol(name));
  }

  /// The missing part, and what to do; empty if all symbols were found.
  const std::string& problem() const { return problem_; }

private:
  void* symbol(const char* name);

  std::string file_;
  std::string package_;
  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace agw
