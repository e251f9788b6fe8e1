// Real targets about a mean, both it and the precision unknown. The prior is m, kappa,
// alpha, beta, and the variance that rounding leaves open.
#pragma once

#include "moments.hpp"

namespace clearwood::distributions {

struct NormalPosterior {
    double m, kappa, alpha, beta;
};

inline NormalPosterior normal_update(View<const double, 1> stats,
                                     View<const double, 1> prior) {
    double kappa = prior[1] + stats[0];
    double gap = stats[1] - prior[0];
    double share = stats[0] / kappa;
    double beta = prior[3] + 0.5 * (stats[2] + prior[1] * share * gap * gap);
    return {prior[0] + share * gap, kappa, prior[2] + 0.5 * stats[0], beta};
}

// Evidence of the rows behind every row of moments, in units of sqrt(beta).
inline Vector<double> normal_log_marginals(View<const double, 2> stats,
                                           View<const double, 1> prior) {
    Vector<double> result(stats.size(0));
    double without = log_gamma_part(prior[2], 1.0);
    for (Index node = 0; node < result.size(); ++node) {
        if (stats(node, 0) > 0.0) {
            NormalPosterior at = normal_update(stats[node], prior);
            result[node] = log_gamma_part(at.alpha, at.beta / prior[3]) - without +
                           0.5 * std::log(prior[1] / at.kappa) -
                           0.5 * stats(node, 0) * std::log(2.0 * std::numbers::pi);
        }
    }
    return result;
}

// Log density of one more row, in units of sqrt(beta): Student's t. Of a rounded row
// the lower bound, so that all rows in turn make up the evidence.
inline double normal_log_predictive(View<const double, 1> stats,
                                    View<const double, 1> prior,
                                    View<const double, 1> z) {
    NormalPosterior at = normal_update(stats, prior);
    double gap = z[0] - at.m;
    if (prior[4] > 0.0)
        gap = std::sqrt(gap * gap + prior[4] * (1.0 + 1.0 / at.kappa));
    return log_student(gap, at.alpha, at.beta + at.beta / at.kappa, prior[3]);
}

// Take one row of weight 1 into moments, with the variance of its rounding.
inline void add_one_rounded(View<double, 1> stats, View<const double, 1> prior,
                            View<const double, 1> z) {
    add_one_moment(stats, z, 1.0);
    stats[2] += prior[4];
}

}  // namespace clearwood::distributions
