// Moments of d columns: a weight, d means, and the lower triangle of the scatter about
// them, row by row.
#pragma once

#include "leaf_model.hpp"

namespace clearwood::distributions {

// Take one row into moments: Chan's rule, or Welford's with weights.
inline void add_one_moment(View<double, 1> stats, View<const double, 1> z,
                           double weight) {
    if (weight == 0.0) return;
    Index d = z.size();
    double before = stats[0];
    stats[0] = before + weight;
    double share = weight / stats[0];
    Index place = 1 + d;
    // The products need the means as they were before: those change afterwards.
    for (Index j = 0; j < d; ++j)
        for (Index k = 0; k <= j; ++k) {
            double product = (z[j] - stats[1 + j]) * (z[k] - stats[1 + k]);
            stats[place++] += before * share * product;
        }
    for (Index j = 0; j < d; ++j) stats[1 + j] += share * (z[j] - stats[1 + j]);
}

// Take every row into the moments at its end, one after the other. weight may be of
// length 1, for all rows.
inline void add_moments(View<double, 2> own, View<const std::int32_t, 1> ends,
                        View<const double, 2> z, View<const double, 1> weight) {
    Index step = weight.size() == ends.size();
    for (Index i = 0; i < ends.size(); ++i)
        add_one_moment(own[ends[i]], z[i], weight[i * step]);
}

// Take other moments in: the pairwise rule of Chan, Golub and LeVeque.
inline void merge_moments(View<double, 1> stats, View<const double, 1> other, Index d) {
    if (other[0] == 0.0) return;
    double before = stats[0];
    stats[0] = before + other[0];
    double share = other[0] / stats[0];
    Index place = 1 + d;
    for (Index j = 0; j < d; ++j)
        for (Index k = 0; k <= j; ++k) {
            double product =
                (other[1 + j] - stats[1 + j]) * (other[1 + k] - stats[1 + k]);
            stats[place] += other[place] + before * share * product;
            ++place;
        }
    for (Index j = 0; j < d; ++j) stats[1 + j] += share * (other[1 + j] - stats[1 + j]);
}

// Take the moments of other rows in, node by node.
inline void merge_all_moments(View<double, 2> own, View<const double, 2> other,
                              Index d) {
    for (Index node = 0; node < own.size(0); ++node)
        merge_moments(own[node], other[node], d);
}

// Take other moments out again: the same rule read backwards.
inline void remove_moments(View<double, 1> stats, View<const double, 1> other,
                           Index d) {
    if (other[0] == 0.0) return;
    double before = stats[0];
    double left = before - other[0];
    stats[0] = left;
    if (left <= 0.0) return;
    Index place = 1 + d;
    for (Index j = 0; j < d; ++j)
        for (Index k = 0; k <= j; ++k) {
            double product =
                (other[1 + j] - stats[1 + j]) * (other[1 + k] - stats[1 + k]);
            stats[place] -= other[place] + other[0] * before / left * product;
            ++place;
        }
    for (Index j = 0; j < d; ++j)
        stats[1 + j] += (stats[1 + j] - other[1 + j]) * other[0] / left;
}

// Take the moments of some rows out, node by node.
inline void remove_all_moments(View<double, 2> own, View<const double, 2> other,
                               Index d) {
    for (Index node = 0; node < own.size(0); ++node)
        remove_moments(own[node], other[node], d);
}

// Log density of Student's t with 2a degrees of freedom and squared scale b/a, of the
// residual in units of sqrt(beta).
inline double log_student(double residual, double a, double b, double beta) {
    double scale = 0.5 * std::log(2.0 * std::numbers::pi * (b / beta));
    return log_gamma_rise(a, 0.5) - scale -
           (a + 0.5) * std::log1p(residual * residual / (2.0 * b));
}

}  // namespace clearwood::distributions
