// Boxes in a grid of bins: what lists, sums and trees share.
#pragma once

#include <bit>

#include "../_native/array.hpp"

namespace clearwood::search {

// A box moves only if its cost falls by more than this.
inline constexpr double ROUNDING = 1e-12;

// Python's Grid; bins are numbered in 16 bits, or in 32 where these do not suffice.
template <typename Bin>
struct Grid {
    View<const Bin, 2> columns;  // (n_features, n_rows): the bin of every row
    View<const Index, 1> start;  // where each feature's bins begin in a box
    View<const Index, 1> n_bins;
    View<const bool, 1> is_category;

    auto fields() { return std::tie(columns, start, n_bins, is_category); }

    Index n_features() const { return columns.size(0); }
    Index n_rows() const { return columns.size(1); }
    // One feature's part of what stands in the order of all bins of all features.
    template <typename T>
    View<T, 1> part(const View<T, 1>& box, Index feature) const {
        return box.part(start[feature], start[feature] + n_bins[feature]);
    }
    Index most_bins() const {
        Index most = 0;
        for (Index n : n_bins) most = std::max(most, n);
        return most;
    }
};

// Call a loop over some columns with their number, which is faster where it is known.
template <typename Loop>
void with_number(Index n_columns, const Loop& loop) {
    switch (n_columns) {
        case 1: return loop(std::integral_constant<Index, 1>());
        case 2: return loop(std::integral_constant<Index, 2>());
        case 3: return loop(std::integral_constant<Index, 3>());
        case 4: return loop(std::integral_constant<Index, 4>());
        case 5: return loop(std::integral_constant<Index, 5>());
        case 6: return loop(std::integral_constant<Index, 6>());
        default: return loop(n_columns);
    }
}

// A number, or 0 where it does not count, without a branch: which rows count cannot be
// predicted, and a wrong guess takes longer than a sum with 0.
inline double number_if(bool counts, double number) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) &
                                 -std::uint64_t(counts));
}

// Truth values as numbers 0 and 1: compilers turn loops over these into SIMD code.
inline std::uint8_t* as_bytes(View<bool, 1> flags) {
    return reinterpret_cast<std::uint8_t*>(flags.data());
}
inline const std::uint8_t* as_bytes(View<const bool, 1> flags) {
    return reinterpret_cast<const std::uint8_t*>(flags.data());
}

// Sum of numbers times weights, of the first as many numbers as there are weights; in
// four parts, of which none waits for another.
template <typename Size>
double dot_product_of(const double* numbers, const double* weights, Size n) {
    double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
    Index s = 0;
    for (; s + 4 <= n; s += 4) {
        first += numbers[s] * weights[s];
        second += numbers[s + 1] * weights[s + 1];
        third += numbers[s + 2] * weights[s + 2];
        fourth += numbers[s + 3] * weights[s + 3];
    }
    for (; s < n; ++s) first += numbers[s] * weights[s];
    return (first + second) + (third + fourth);
}

inline double dot_product(View<const double, 1> numbers,
                          View<const double, 1> weights) {
    return dot_product_of(numbers.data(), weights.data(), weights.size());
}

// Literals of one feature's part of a box. Only bins that hold rows matter: a bound
// beyond which there are none says nothing.
Index part_literals(View<const bool, 1> allowed, View<const bool, 1> seen,
                    bool is_category);

// Literals of a box.
template <typename Bin>
Index n_literals(const Grid<Bin>& grid, View<const bool, 1> seen,
                 View<const bool, 1> box) {
    Index total = 0;
    for (Index d = 0; d < grid.n_features(); ++d)
        total += part_literals(grid.part(box, d), grid.part(seen, d),
                               grid.is_category[d]);
    return total;
}

// What a box costs, and what it may be.
template <typename Bin>
struct BoxProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;      // bins that hold rows, over all bins
    View<const double, 1> cost;    // of each row if in the box; negative if better so
    double literal;                // cost per literal
    View<const double, 1> counts;  // how much each row counts towards `least`
    double least;                  // least sum of `counts` over the rows of the box
    // (2, n_features): whether a numeric feature may have a lower bound, and an upper
    // one. The box must not have others at the start.
    View<const bool, 2> bounds;

    auto fields() {
        return std::tie(grid, seen, cost, literal, counts, least, bounds);
    }
};

// A box whose sides move. A row in it costs the sum of N numbers, which stand in
// `problem.cost` one after the other, times weights: with other weights, the sums per
// bin remain.
template <typename Bin, int N>
class BoxMoves {
public:
    using Weights = std::array<double, N>;

    // box : the start; changed in place
    BoxMoves(const BoxProblem<Bin>& problem, View<bool, 1> box);

    // Move the sides, feature by feature, while the cost of rows and literals falls.
    // Along one feature, all others as they are, the best part is found exactly.
    // Returns the cost of the box that was found.
    double improve(Weights weights);

    // What the rows in the box cost, and what else there is.
    double cost(Weights weights, double start) const;

    // To be called after `problem.cost` has changed.
    void forget_costs();

    View<const std::uint32_t, 1> rows() const {
        return inside_rows_.part(0, n_inside_);
    }

    void write_inside(View<bool, 1> inside) const;

private:
    void list_rows();
    void sum_bins(Index d);

    const BoxProblem<Bin>& problem_;
    View<bool, 1> box_;
    Vector<Bin> outside_;  // of how many features each row is outside
    Vector<std::uint32_t> inside_rows_, near_rows_;
    Index n_inside_, n_near_;
    Vector<double> inside_cost_;
    Vector<double> sums_;  // of costs, N per bin
    Vector<bool> is_summed_;
};

// Move the sides of a box, feature by feature, while its cost falls: the cost of its
// rows and of its literals. Along one feature, all others as they are, the best part is
// found exactly.
//
// box : the start; changed in place
// inside : written: which rows are in the box that was found
//
// Returns the cost of the box that was found. For Bin uint16 and uint32.
template <typename Bin>
double improve_box(const BoxProblem<Bin>& problem, View<bool, 1> box,
                   View<bool, 1> inside);

}  // namespace clearwood::search
