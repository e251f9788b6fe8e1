// What a leaf loses, and what a tree is fitted to.
//
// Rows come with a few numbers each (stats): scores, then the weight, whether the row
// counts as support, and one. What a leaf loses follows from the sums of these over its
// rows, so that all splits of a node can be judged by its histogram.
#pragma once

#include "../_loss.hpp"

namespace clearwood::search {

// Columns after the scores: weight, support, number of rows.
inline constexpr Index N_EXTRA = 3;

// Python's TreeProblem.
template <typename Bin>
struct TreeProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;     // bins that hold rows
    View<const double, 2> stats;  // (n_rows, n_scores + 3)
    LossForm leaf;
    double constant, literal, min_samples_leaf;
    Grid<Bin> ahead;  // the same rows in fewer bins

    auto fields() {
        return std::tie(grid, seen, stats, leaf, constant, literal, min_samples_leaf, ahead);
    }
};

// Add numbers to others, four at a time, which processors do together.
template <typename Size>
void add_line(const double* numbers, double* __restrict into, Size n) {
    Index c = 0;
    for (; c + 4 <= n; c += 4)
        for (int k = 0; k < 4; ++k) into[c + k] += numbers[c + k];
    for (; c < n; ++c) into[c] += numbers[c];
}

// What is lost in a leaf, but for a constant per row, by sums over its rows.
inline double leaf_loss(View<const double, 1> sums, const LossForm& leaf) {
    Index n_scores = sums.size() - N_EXTRA;
    return least_loss(leaf, sums.part(0, n_scores), sums[n_scores]);
}

// Per feature the least loss after one split, and which bins it sends left. The loss is
// infinite where no split leaves least support on both sides.
using Splits = std::tuple<Vector<double>, Vector<bool>>;

// The best splits of some rows. For Bin uint16 and uint32.
//
// stats : (n_rows, n_scores + 3), of these rows
template <typename Bin>
Splits best_splits_of(const Grid<Bin>& grid, View<const Index, 1> rows,
                      View<const double, 2> stats, const LossForm& leaf, double least);

}  // namespace clearwood::search
