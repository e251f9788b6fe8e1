// Rates with a gamma prior, of shape prior[0] and rate prior[1]: counts from 0 on
// (Poisson), and durations (exponential).
#pragma once

#include "leaf_model.hpp"

namespace clearwood::distributions {

// Evidence of counts: a ratio of two gamma integrals over the factorials.
inline Vector<double> poisson_log_marginals(View<const double, 2> stats,
                                            View<const double, 1> prior) {
    Vector<double> result(stats.size(0));
    double without = log_gamma_part(prior[0], prior[1]);
    for (Index node = 0; node < result.size(); ++node) {
        if (stats(node, 0) > 0.0) {
            double with_rows =
                log_gamma_part(prior[0] + stats(node, 1), prior[1] + stats(node, 0));
            result[node] = with_rows - without - stats(node, 2);
        }
    }
    return result;
}

// Log probability of one more count: negative binomial.
inline double poisson_log_predictive(View<const double, 1> stats,
                                     View<const double, 1> prior,
                                     View<const double, 1> z) {
    double r = prior[0] + stats[1];
    double b = prior[1] + stats[0];
    double y = z[0];
    return log_gamma_rise(r, y) - std::lgamma(y + 1.0) - r * std::log1p(1.0 / b) -
           y * std::log1p(b);
}

// Take one row of weight 1 into the statistics of counts.
inline void add_one_count(View<double, 1> stats, View<const double, 1> z) {
    stats[0] += 1.0;
    stats[1] += z[0];
    stats[2] += std::lgamma(z[0] + 1.0);
}

// Evidence of durations, in units of beta: a ratio of two gamma integrals.
inline Vector<double> exponential_log_marginals(View<const double, 2> stats,
                                                View<const double, 1> prior) {
    Vector<double> result(stats.size(0));
    double without = log_gamma_part(prior[0], 1.0);
    for (Index node = 0; node < result.size(); ++node) {
        if (stats(node, 0) > 0.0) {
            double beta = (prior[1] + stats(node, 1)) / prior[1];
            result[node] = log_gamma_part(prior[0] + stats(node, 0), beta) - without;
        }
    }
    return result;
}

// Log density of one more duration, in units of beta: Lomax.
inline double exponential_log_predictive(View<const double, 1> stats,
                                         View<const double, 1> prior,
                                         View<const double, 1> z) {
    double a = prior[0] + stats[0];
    double b = prior[1] + stats[1];
    return std::log(a / (b / prior[1])) - (a + 1.0) * std::log1p(z[0] / b);
}

// Take one row of weight 1 into the statistics of durations.
inline void add_one_duration(View<double, 1> stats, View<const double, 1> z) {
    stats[0] += 1.0;
    stats[1] += z[0];
}

}  // namespace clearwood::distributions
