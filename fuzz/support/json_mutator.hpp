#pragma once

#include <cstddef>
#include <cstdint>

namespace agw::fuzzing {

/// Mutates a JSON text: replaces, removes, repeats, moves or nests a value, or renames a member. Bytes changed at
/// random are rarely valid JSON, so the parser would reject most of them. One time in four, and if the input is not
/// JSON, bytes are changed nevertheless. Returns the new size.
std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

/// Does the same for texts with one JSON value per line.
std::size_t mutate_json_lines(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

}  // namespace agw::fuzzing
