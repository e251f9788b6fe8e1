// Classes: counts with a beta or Dirichlet prior.
#pragma once

#include "leaf_model.hpp"

namespace clearwood::distributions {

// Log of the multivariate beta function of prior + stats.
//
// As a sum of log gammas it would lose the digits in which these cancel. Stirling's
// formula takes their large parts together; what is left is small.
inline double log_beta(View<const double, 1> prior, View<const double, 1> stats) {
    double total = 0.0;
    for (Index j = 0; j < prior.size(); ++j) total += prior[j] + stats[j];
    double result = 0.5 * std::log(total) - stirling_rest(total);
    for (Index j = 0; j < prior.size(); ++j) {
        double x = prior[j] + stats[j];
        // Near 1 the logarithm of a share needs what is missing to 1.
        double log_share =
            x > 0.5 * total ? std::log1p((x - total) / total) : std::log(x / total);
        result += x * log_share - 0.5 * std::log(x) + stirling_rest(x);
    }
    return result;
}

// Log of B(prior + counts) / B(prior) for every row of statistics.
inline Vector<double> count_log_marginals(View<const double, 2> stats,
                                          View<const double, 1> prior) {
    Vector<double> result(stats.size(0));
    double without = log_beta(prior, Vector<double>(prior.size()));
    for (Index node = 0; node < result.size(); ++node) {
        View<const double, 1> own = stats[node];
        if (std::any_of(own.begin(), own.end(), [](double n) { return n != 0.0; }))
            result[node] = log_beta(prior, own) - without;
    }
    return result;
}

// Log probability of one more row with the class z[0].
inline double count_log_predictive(View<const double, 1> stats,
                                   View<const double, 1> prior,
                                   View<const double, 1> z) {
    double total = 0.0;
    for (Index j = 0; j < stats.size(); ++j) total += prior[j] + stats[j];
    Index label = Index(z[0]);
    return std::log((prior[label] + stats[label]) / total);
}

// Take one row of weight 1 into counts.
inline void add_one_label(View<double, 1> stats, View<const double, 1> z) {
    stats[Index(z[0])] += 1.0;
}

// Add the weight of every row to the count of its label at its end. weight may be of
// length 1, for all rows.
template <typename Label>
void add_counts(View<double, 2> own, View<const std::int32_t, 1> ends,
                View<const Label, 1> labels, View<const double, 1> weight) {
    Index step = weight.size() == ends.size();
    for (Index i = 0; i < ends.size(); ++i)
        own(ends[i], Index(labels[i])) += weight[i * step];
}

}  // namespace clearwood::distributions
