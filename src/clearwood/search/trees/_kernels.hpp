// What a leaf loses, and what a tree is fitted to.
//
// Rows come with a few numbers each (stats): scores, then the weight, whether the row
// counts as support, and one. What a leaf loses follows from the sums of these over its
// rows, so that all splits of a node can be judged by its histogram.
#pragma once

#include "../_kernels.hpp"

namespace clearwood::search {

// Columns after the scores: weight, support, number of rows.
inline constexpr Index N_EXTRA = 3;

enum LeafKind { SQUARES, LOG_VARIANCE, LOG_MEAN };

// Python's LeafLoss, which says what its fields mean.
struct LeafLoss {
    int kind = SQUARES;
    double hard = 0.0, soft = 0.0;

    auto fields() { return std::tie(kind, hard, soft); }
};

// Python's TreeProblem.
template <typename Bin>
struct TreeProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;     // bins that hold rows
    View<const double, 2> stats;  // (n_rows, n_scores + 3)
    LeafLoss leaf;
    double constant, literal, min_rows;
    Grid<Bin> ahead;  // the same rows in fewer bins

    auto fields() {
        return std::tie(grid, seen, stats, leaf, constant, literal, min_rows, ahead);
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
inline double leaf_loss(View<const double, 1> sums, const LeafLoss& leaf) {
    Index n_scores = sums.size() - N_EXTRA;
    double weight = sums[n_scores], lost = 0.0;
    if (weight <= 0.0) return 0.0;
    if (leaf.kind == LOG_VARIANCE) {
        for (Index c = 0; c < n_scores; c += 2) {
            double mean = sums[c] / weight;
            lost += weight * std::log(sums[c + 1] / weight - mean * mean);
        }
        return lost;
    }
    if (leaf.kind == LOG_MEAN) {
        for (Index c = 0; c < n_scores; ++c)
            if (sums[c] > 0.0) lost -= sums[c] * std::log(sums[c] / weight);
        return lost;
    }
    double least = sums[0], squares = 0.0;
    for (Index c = 0; c < n_scores; ++c) {
        least = std::min(least, sums[c]);
        squares += sums[c] * sums[c];
    }
    return leaf.hard * least - leaf.soft * squares / weight;
}

// Per feature the least loss after one split, and which bins it sends left. The loss is
// infinite where no split leaves least support on both sides.
using Splits = std::tuple<Vector<double>, Vector<bool>>;

// The best splits of some rows. For Bin uint16 and uint32.
//
// stats : (n_rows, n_scores + 3), of these rows
template <typename Bin>
Splits best_splits_of(const Grid<Bin>& grid, View<const Index, 1> rows,
                      View<const double, 2> stats, const LeafLoss& leaf, double least);

}  // namespace clearwood::search
