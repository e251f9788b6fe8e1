// All leaf models by number, for kernels that take one row after the other. What a
// model is stands in a file of its own; a new one needs a number and two branches here.
#pragma once

#include "counts.hpp"
#include "gamma.hpp"
#include "linear.hpp"
#include "normal.hpp"

namespace clearwood::distributions {

enum Kind : int { COUNTS, POISSON, EXPONENTIAL, NORMAL, LINEAR };

// Log density of one more row in the model's unit, given those in the statistics.
//
// kind : the model's, in Python
// prior : hyperparameters in the order of the model's prior
// z : the target, behind the features where the model reads any
inline double log_predictive(int kind, View<const double, 1> stats,
                             View<const double, 1> prior, View<const double, 1> z) {
    switch (kind) {
        case COUNTS: return count_log_predictive(stats, prior, z);
        case POISSON: return poisson_log_predictive(stats, prior, z);
        case EXPONENTIAL: return exponential_log_predictive(stats, prior, z);
        case NORMAL: return normal_log_predictive(stats, prior, z);
        default: return linear_log_predictive(stats, prior, z);
    }
}

// Take one row of weight 1 into statistics; otherwise as log_predictive.
inline void add_one(int kind, View<double, 1> stats, View<const double, 1> prior,
                    View<const double, 1> z) {
    switch (kind) {
        case COUNTS: return add_one_label(stats, z);
        case POISSON: return add_one_count(stats, z);
        case EXPONENTIAL: return add_one_duration(stats, z);
        case NORMAL: return add_one_rounded(stats, prior, z);
        default: return add_one_moment(stats, z, 1.0);
    }
}

}  // namespace clearwood::distributions
