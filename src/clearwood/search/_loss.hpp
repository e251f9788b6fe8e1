// What rows lose by what is predicted for them: the one place with the formulas.
//
// What is predicted is a vector of as many numbers as a row has scores. Scores are what
// the row is its target times its share. For every kind, `predicted` costs a row
//
//     base + share * offset - scores @ factors,
//
// where the offset and the factors follow from `predicted`; the base is the same
// whatever is predicted. The least that rows lose together follows from the sums of
// their scores and shares.
#pragma once

#include "_kernels.hpp"

namespace clearwood::search {

// SQUARES   : `hard` times the loss of the score that is predicted to be largest, and
//             `soft` times squared differences
// LOG_MEAN  : `soft` times the divergence from probabilities, or half the deviance of
//             rates
// LOG_VARIANCE : the log of the variance; scores are pairs, a value and its square
// REGRET    : one score is predicted, and lost is how much larger another one is
enum LossKind : int { SQUARES, LOG_MEAN, LOG_VARIANCE, REGRET };

// Python's LossForm.
struct LossForm {
    int kind = SQUARES;
    double hard = 0.0, soft = 0.0;

    auto fields() { return std::tie(kind, hard, soft); }
};

// Least probability or rate that a box predicts while it is moved: an event that none
// of its rows had may yet happen in the next row.
inline constexpr double LEAST_PREDICTED = 1e-3;

// Write the factors of what is predicted; returns the offset.
inline double factors_of(const LossForm& form, View<const double, 1> predicted,
                         View<double, 1> factors) {
    double total = 0.0, squares = 0.0;
    for (Index s = 0; s < predicted.size(); ++s) {
        total += predicted[s];
        squares += predicted[s] * predicted[s];
        if (form.kind == REGRET)
            factors[s] = predicted[s];
        else if (form.kind == LOG_MEAN)
            factors[s] = form.soft * std::log(predicted[s]);
        else
            factors[s] = 2.0 * form.soft * predicted[s];
    }
    if (form.kind == REGRET) return 0.0;
    if (form.hard > 0.0) factors[argmax(predicted)] += form.hard;
    return form.soft * (form.kind == LOG_MEAN ? total : squares);
}

// Write what costs rows least, by the sums of their scores and shares. Rows without
// weight leave what is predicted as it is.
inline void predict_best(const LossForm& form, View<const double, 1> sums,
                         double share, View<double, 1> predicted) {
    if (share <= 0.0) return;
    Index best = argmax(sums);
    for (Index s = 0; s < predicted.size(); ++s) {
        if (form.kind == REGRET)
            predicted[s] = s == best;
        else if (form.kind == LOG_MEAN)
            predicted[s] = std::max(sums[s] / share, LEAST_PREDICTED);
        else
            predicted[s] = sums[s] / share;
    }
}

// The least that rows lose together, but for their bases; trees count scores that are
// lost, so that the least of them is predicted.
inline double least_loss(const LossForm& form, View<const double, 1> scores,
                         double share) {
    double lost = 0.0;
    if (share <= 0.0) return 0.0;
    if (form.kind == LOG_VARIANCE) {
        for (Index c = 0; c < scores.size(); c += 2) {
            double mean = scores[c] / share;
            lost += share * std::log(scores[c + 1] / share - mean * mean);
        }
        return lost;
    }
    if (form.kind == LOG_MEAN) {
        for (Index c = 0; c < scores.size(); ++c)
            if (scores[c] > 0.0) lost -= scores[c] * std::log(scores[c] / share);
        return lost;
    }
    double least = scores[0], squares = 0.0;
    for (Index c = 0; c < scores.size(); ++c) {
        least = std::min(least, scores[c]);
        squares += scores[c] * scores[c];
    }
    return form.hard * least - form.soft * squares / share;
}

}  // namespace clearwood::search
