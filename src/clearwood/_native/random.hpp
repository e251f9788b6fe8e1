// Random numbers of NumPy's generators, the same as its own functions draw.
#pragma once

#include "array.hpp"

namespace clearwood {

// What a bit generator shows of itself: bitgen_t of numpy/random/bitgen.h, which NumPy
// keeps as it is.
struct BitGenerator {
    void* state;
    std::uint64_t (*next_uint64)(void* state);
    std::uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    std::uint64_t (*next_raw)(void* state);
};

// A numpy.random.Generator. Threads must not share one: NumPy's lock is not taken.
class Random {
public:
    Random() = default;
    explicit Random(const BitGenerator* bits) : bits_(bits) {}

    // In [0, 1), as Generator.random().
    double uniform() const { return bits_->next_double(bits_->state); }

    // One of 0, 1, ..., n - 1.
    Index below(Index n) const { return Index(uniform() * double(n)); }

private:
    const BitGenerator* bits_ = nullptr;
};

}  // namespace clearwood

namespace nanobind::detail {

template <>
struct type_caster<clearwood::Random> {
    NB_TYPE_CASTER(clearwood::Random, const_name("numpy.random.Generator"))

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        object bits = getattr(source, "bit_generator", none());
        object capsule = getattr(bits, "capsule", none());
        if (!PyCapsule_IsValid(capsule.ptr(), "BitGenerator")) return false;
        value = clearwood::Random(static_cast<const clearwood::BitGenerator*>(
            PyCapsule_GetPointer(capsule.ptr(), "BitGenerator")));
        return true;
    }
};

}  // namespace nanobind::detail
