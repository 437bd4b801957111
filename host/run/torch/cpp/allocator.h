// A CPU allocator that can poison fresh memory, guard its edges, count it and limit it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace passhost {

// Puts the allocator in front of libtorch's own. Idempotent.
void install_allocator();

// From now on blocks are filled with the poison byte and surrounded by guard zones, and more than `limit` bytes at once
// are refused.
void start_guarding(size_t limit);
// Back to plain blocks. Returns the number of guard zones found overwritten since the start.
uint64_t stop_guarding();
// Guard zones of live blocks and of blocks freed since the start that were overwritten.
uint64_t overwritten_guards();

// Starts counting the highest number of bytes allocated at once, from what is allocated now.
void start_peak();
size_t peak_bytes();

}  // namespace passhost
