// What several leaf models need: sums of rows, and log gammas of large numbers, without
// the digits in which these cancel.
#pragma once

#include "../_native/array.hpp"

#include <numbers>

namespace clearwood::distributions {

// Add the statistics of every row, times its weight, to those of its end. weight may be
// of length 1, for all rows.
inline void add_sums(View<double, 2> own, View<const std::int32_t, 1> ends,
                     View<const double, 2> rows, View<const double, 1> weight) {
    Index step = weight.size() == ends.size();
    for (Index i = 0; i < ends.size(); ++i)
        for (Index j = 0; j < own.size(1); ++j)
            own(ends[i], j) += weight[i * step] * rows(i, j);
}

// What Stirling's (x - 1/2) log x - x lacks to the log gamma of x.
inline double stirling_rest(double x) {
    if (x < 16.0) return std::lgamma(x) - (x - 0.5) * std::log(x) + x;
    double r = 1.0 / (x * x);
    double series =
        1.0 / 12 -
        r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188))));
    return series / x + 0.5 * std::log(2.0 * std::numbers::pi);
}

// log gamma(alpha) - alpha log beta, the large parts taken together.
inline double log_gamma_part(double alpha, double beta) {
    double large = alpha * (std::log(alpha / beta) - 1.0) - 0.5 * std::log(alpha);
    return large + stirling_rest(alpha);
}

// log gamma(x + h) - log gamma(x), where x may be large and h small.
inline double log_gamma_rise(double x, double h) {
    double large = (x - 0.5) * std::log1p(h / x) + h * (std::log(x + h) - 1.0);
    return large + stirling_rest(x + h) - stirling_rest(x);
}

}  // namespace clearwood::distributions
