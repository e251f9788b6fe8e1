// What is best predicted for some rows, and what that changes, by sums over them.
#include "_loss.hpp"

using namespace clearwood;
using namespace clearwood::search;

namespace {

double write_factors(const LossForm& form, View<const double, 1> predicted,
                     View<double, 1> factors) {
    return factors_of(form, predicted, factors);
}

// Write what costs the rows of each line least, by sums of their scores and shares.
void predict_best_of_lines(const LossForm& form, View<const double, 2> sums,
                       View<const double, 1> share, View<double, 2> predicted) {
    for (Index line = 0; line < predicted.size(0); ++line)
        predict_best(form, sums[line], share[line], predicted[line]);
}

// The least change of the loss of each line, and what is then predicted.
//
// sums : per line of what is now lost too much, of the scores, and of the shares
// low, high : between these lies what is predicted, of one score only
std::tuple<Vector<double>, Matrix<double>> best_changes(const LossForm& form,
                                                        View<const double, 2> sums,
                                                        View<const double, 1> low,
                                                        View<const double, 1> high) {
    Index n_scores = sums.size(1) - 2;
    Vector<double> change(sums.size(0)), factors(n_scores);
    Matrix<double> predicted({sums.size(0), n_scores}, LEAST_PREDICTED);
    for (Index line = 0; line < sums.size(0); ++line) {
        auto scores = sums[line].part(1, n_scores + 1);
        double share = sums(line, n_scores + 1);
        predict_best(form, scores, share, predicted[line]);
        if (n_scores == 1)
            predicted(line, 0) =
                std::min(std::max(predicted(line, 0), low[line]), high[line]);
        double offset = factors_of(form, predicted[line], factors), gained = 0.0;
        for (Index s = 0; s < n_scores; ++s) gained += scores[s] * factors[s];
        change[line] = sums(line, 0) + share * offset - gained;
    }
    return {std::move(change), std::move(predicted)};
}

}  // namespace

void add_loss(nb::module_& module) {
    module.attr("SQUARES") = int(SQUARES);
    module.attr("LOG_MEAN") = int(LOG_MEAN);
    module.attr("LOG_VARIANCE") = int(LOG_VARIANCE);
    module.attr("REGRET") = int(REGRET);
    add_kernel(module, "factors_of", &write_factors);
    add_kernel(module, "predict_best_of_lines", &predict_best_of_lines);
    add_kernel(module, "best_changes", &best_changes);
}
