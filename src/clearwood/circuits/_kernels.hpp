// What the kernels take of a compiled circuit.
#pragma once

#include <numbers>

#include "../_native/array.hpp"

namespace clearwood::circuits {

// The sums and products of a circuit, children before parents. Edges first[node] to
// first[node + 1] lead from a node to its children; log_weight is read for those of
// sums only.
struct Edges {
    View<const bool, 1> is_sum;
    View<const Index, 1> first, child;
    View<const double, 1> log_weight;
    auto fields() { return std::tie(is_sum, first, child, log_weight); }
};

// Leaves over levels: the node that each belongs to and the variable that it is of. Its
// probabilities are those from first[i] to first[i + 1].
struct Levels {
    View<const Index, 1> node, variable, first;
    View<const double, 1> probability;
    auto fields() { return std::tie(node, variable, first, probability); }

    Index size(Index i) const { return first(i + 1) - first(i); }
    View<const double, 1> of(Index i) const {
        return probability.part(first(i), first(i + 1));
    }
    // Whether a value is a level that the leaf knows; NaN is none.
    bool knows(Index i, double x) const { return 0.0 <= x && x < double(size(i)); }
};

// Normal leaves: the node that each belongs to, and the variable that it is of.
struct Normals {
    View<const Index, 1> node, variable;
    View<const double, 1> mean, variance;
    auto fields() { return std::tie(node, variable, mean, variance); }
};

}  // namespace clearwood::circuits

void add_scaled_passes(nanobind::module_& module);
