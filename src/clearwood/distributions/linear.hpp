// Real targets on a line. Moments are those of the p features and, behind them, the
// target; the prior is alpha, beta, mu (p numbers) and Lambda (p x p, row by row).
#pragma once

#include "../_numeric/_kernels.hpp"
#include "moments.hpp"

namespace clearwood::distributions {

struct LinearPosterior {
    double alpha, beta;
};

// Posterior of a linear regression from its moments. mean gets mu_n, and factor the
// lower Cholesky factor of Lambda_n.
inline LinearPosterior linear_update(View<const double, 1> stats,
                                     View<const double, 1> prior, View<double, 1> mean,
                                     View<double, 2> factor) {
    Index p = mean.size();
    double weight = stats[0];
    double y_mean = stats[1 + p];
    View<const double, 1> x_mean = stats.part(1, 1 + p);
    View<const double, 1> mu = prior.part(2, 2 + p);
    auto lambda = [&](Index j, Index k) { return prior[2 + p + j * p + k]; };
    // Of the columns j and k <= j; column p is the target.
    auto scatter = [&](Index j, Index k) { return stats[2 + p + j * (j + 1) / 2 + k]; };
    // Lambda_n and Lambda mu + X'y - Lambda_n mu, so that mu_n = mu + a correction.
    double gap_y = y_mean;
    for (Index j = 0; j < p; ++j) gap_y -= x_mean[j] * mu[j];
    for (Index j = 0; j < p; ++j) {
        mean[j] = scatter(p, j) + weight * x_mean[j] * gap_y;
        for (Index k = 0; k <= j; ++k) {
            factor(j, k) =
                lambda(j, k) + scatter(j, k) + weight * x_mean[j] * x_mean[k];
            mean[j] -= scatter(j, k) * mu[k];
            if (k < j) mean[k] -= scatter(j, k) * mu[j];
        }
    }
    cholesky(factor);
    solve_lower(factor, mean);
    solve_upper(factor, mean);
    // beta_n: what the rows and the prior lose at mu_n, about the means of the rows.
    double loss = scatter(p, p);
    double y_gap = y_mean;
    for (Index j = 0; j < p; ++j) {
        double at_j = mu[j] + mean[j];
        y_gap -= x_mean[j] * at_j;
        loss -= 2.0 * scatter(p, j) * at_j;
        for (Index k = 0; k < p; ++k) {
            loss += scatter(std::max(j, k), std::min(j, k)) * at_j * (mu[k] + mean[k]);
            loss += lambda(j, k) * mean[j] * mean[k];
        }
    }
    loss = std::max(loss, 0.0) + weight * y_gap * y_gap;
    for (Index j = 0; j < p; ++j) mean[j] += mu[j];
    return {prior[0] + 0.5 * weight, prior[1] + 0.5 * loss};
}

// linear_update for every row of statistics: mean, factor, alpha, beta.
inline std::tuple<Matrix<double>, Array<double, 3>, Vector<double>, Vector<double>>
linear_update_all(View<const double, 2> stats, View<const double, 1> prior, Index p) {
    Index n = stats.size(0);
    Matrix<double> mean({n, p});
    Array<double, 3> factor({n, p, p});
    Vector<double> alpha(n), beta(n);
    for (Index i = 0; i < n; ++i) {
        LinearPosterior at = linear_update(stats[i], prior, mean[i], factor[i]);
        alpha[i] = at.alpha;
        beta[i] = at.beta;
    }
    return {std::move(mean), std::move(factor), std::move(alpha), std::move(beta)};
}

// Number of features where prior is alpha, beta, mu, Lambda.
inline Index columns_of_prior(View<const double, 1> prior) {
    return Index((std::sqrt(4.0 * double(prior.size() - 2) + 1.0) - 1.0) / 2.0 + 0.5);
}

// Evidence of the rows behind every row of moments, in units of sqrt(beta).
inline Vector<double> linear_log_marginals(View<const double, 2> stats,
                                           View<const double, 1> prior) {
    Vector<double> result(stats.size(0));
    Index p = columns_of_prior(prior);
    Vector<double> mean(p), nothing(stats.size(1));
    Matrix<double> factor({p, p});
    LinearPosterior at = linear_update(nothing, prior, mean, factor);
    double without = log_gamma_part(at.alpha, 1.0) - log_diagonal(factor);
    for (Index node = 0; node < result.size(); ++node) {
        if (stats(node, 0) > 0.0) {
            at = linear_update(stats[node], prior, mean, factor);
            result[node] = log_gamma_part(at.alpha, at.beta / prior[1]) -
                           log_diagonal(factor) - without -
                           0.5 * stats(node, 0) * std::log(2.0 * std::numbers::pi);
        }
    }
    return result;
}

// x' A^-1 x where A = factor factor'.
inline double inverse_square(View<const double, 2> factor, View<const double, 1> x) {
    Vector<double> b = copy_of(x);
    solve_lower(factor, b);
    double total = 0.0;
    for (double value : b) total += value * value;
    return total;
}

// inverse_square row by row.
inline Vector<double> inverse_square_all(View<const double, 3> factor,
                                         View<const double, 2> x) {
    Vector<double> result(x.size(0));
    for (Index i = 0; i < result.size(); ++i)
        result[i] = inverse_square(factor[i], x[i]);
    return result;
}

// Log density of one more row, in units of sqrt(beta): Student's t.
inline double linear_log_predictive(View<const double, 1> stats,
                                    View<const double, 1> prior,
                                    View<const double, 1> z) {
    Index p = z.size() - 1;
    Vector<double> mean(p);
    Matrix<double> factor({p, p});
    LinearPosterior at = linear_update(stats, prior, mean, factor);
    double residual = z[p];
    for (Index j = 0; j < p; ++j) residual -= z[j] * mean[j];
    double b = at.beta * (1.0 + inverse_square(factor, z.part(0, p)));
    return log_student(residual, at.alpha, b, prior[1]);
}

}  // namespace clearwood::distributions
