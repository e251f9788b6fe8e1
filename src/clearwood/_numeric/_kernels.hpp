// Positive matrices, factorised in the same order on every machine; LAPACK is not.
#pragma once

#include "../_native/array.hpp"

namespace clearwood {

// Share of the largest diagonal entry that is added, should a matrix be singular.
inline constexpr double SLIGHT = 1e-12;

// Turn the lower triangle of a positive matrix into its Cholesky factor; NaN comes into
// it where the matrix is not positive.
inline void cholesky(View<double, 2> a) {
    Index n = a.size(0);
    for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k <= j; ++k) {
            double rest = a(j, k);
            for (Index i = 0; i < k; ++i) rest -= a(j, i) * a(k, i);
            a(j, k) = j == k ? std::sqrt(rest) : rest / a(k, k);
        }
        a[j].part(j + 1, n).fill(0.0);
    }
}

// Half the log determinant of a matrix, from its Cholesky factor.
inline double log_diagonal(View<const double, 2> factor) {
    double result = 0.0;
    for (Index j = 0; j < factor.size(0); ++j) result += std::log(factor(j, j));
    return result;
}

// Solve factor x = b in place.
inline void solve_lower(View<const double, 2> factor, View<double, 1> b) {
    for (Index j = 0; j < b.size(); ++j) {
        for (Index k = 0; k < j; ++k) b(j) -= factor(j, k) * b(k);
        b(j) /= factor(j, j);
    }
}

// solve_lower for every row of sides.
inline void solve_lower_all(View<const double, 2> factor, View<double, 2> sides) {
    for (Index i = 0; i < sides.size(0); ++i) solve_lower(factor, sides[i]);
}

// Solve factor^T x = b in place.
inline void solve_upper(View<const double, 2> factor, View<double, 1> b) {
    for (Index j = b.size() - 1; j >= 0; --j) {
        for (Index k = j + 1; k < b.size(); ++k) b(j) -= factor(k, j) * b(k);
        b(j) /= factor(j, j);
    }
}

// Solve matrix x = side for every row of sides.
inline Matrix<double> solve_positive(View<const double, 2> matrix,
                                     View<const double, 2> sides) {
    Matrix<double> factor = copy_of(matrix), result = copy_of(sides);
    double largest = -infinity;
    for (Index j = 0; j < matrix.size(0); ++j) largest = std::max(largest, matrix(j, j));
    double slight = std::max(SLIGHT * largest, 1e-300);
    for (Index j = 0; j < factor.size(0); ++j) factor(j, j) += slight;
    cholesky(factor);
    for (Index i = 0; i < result.size(0); ++i) {
        solve_lower(factor, result[i]);
        solve_upper(factor, result[i]);
    }
    return result;
}

}  // namespace clearwood
