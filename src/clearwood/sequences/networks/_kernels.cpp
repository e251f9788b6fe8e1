// The forward recursion of hidden Markov models, and its gradient.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

// A log-likelihood below this is that of something impossible.
constexpr double IMPOSSIBLE = -1e5;

// So is a step of less than this probability, beside its likeliest state.
constexpr double LEAST = 1e-300;

// Probabilities of states given all observations so far.
//
// Emissions come as logs and are scaled by their largest, so that none underflows. A
// step that no state explains counts as missing, with a log-likelihood of -inf.
//
// predicted : (streams, states), of the first step, before it is seen
// transition : (states, states), rows are from, columns to
// log_emission : (streams, steps, states), log-likelihood of every observation in every
//     state; zeros where it is missing
//
// Returns
// filtered : (streams, steps, states)
// weight : (streams, steps, states), what seeing the step multiplies the predicted
//     probabilities by
// log_likelihood : (streams, steps), of every observation given those before it
std::tuple<Array<double, 3>, Array<double, 3>, Matrix<double>> filter_streams(
    View<const double, 2> predicted, View<const double, 2> transition,
    View<const double, 3> log_emission) {
    auto [batch_size, n_steps, n_states] = log_emission.shape();
    Array<double, 3> filtered(log_emission.shape()), weight(log_emission.shape());
    Matrix<double> log_likelihood({batch_size, n_steps});
    for (Index b = 0; b < batch_size; ++b) {
        Vector<double> ahead = copy_of(predicted[b]);
        for (Index t = 0; t < n_steps; ++t) {
            View<const double, 1> seen = log_emission[b][t];
            View<double, 1> now = filtered[b][t], factor = weight[b][t];
            double largest = seen(0);
            for (double value : seen)
                if (value > largest || std::isnan(value)) largest = value;
            double total = 0.0;
            for (Index k = 0; k < n_states; ++k) {
                factor(k) = seen(k) > IMPOSSIBLE ? std::exp(seen(k) - largest) : 0.0;
                total += ahead(k) * factor(k);
            }
            log_likelihood(b, t) = std::log(total) + largest;
            if (!(total > LEAST)) {
                log_likelihood(b, t) = -infinity;
                factor.fill(1.0);
                total = sum(ahead);
            }
            for (Index k = 0; k < n_states; ++k) {
                factor(k) /= total;
                now(k) = ahead(k) * factor(k);
            }
            ahead.fill(0.0);
            for (Index i = 0; i < n_states; ++i)
                for (Index j = 0; j < n_states; ++j)
                    ahead(j) += now(i) * transition(i, j);
        }
    }
    return {std::move(filtered), std::move(weight), std::move(log_likelihood)};
}

// What a change of its inputs does to a function of what the filter gives.
//
// For the log-likelihood this is smoothing: the slope in the log of an emission is the
// probability of the state given the whole sequence.
//
// predicted, transition, filtered, weight : as taken and given by filter_streams
// slope : (streams, steps, states), gradient of the function in the filtered
//     probabilities
// slope_of_likelihood : (streams, steps), its gradient in the log-likelihoods
//
// Returns its gradients in predicted, transition and log_emission.
std::tuple<Matrix<double>, Matrix<double>, Array<double, 3>> filter_streams_backward(
    View<const double, 2> predicted, View<const double, 2> transition,
    View<const double, 3> filtered, View<const double, 3> weight,
    View<const double, 3> slope, View<const double, 2> slope_of_likelihood) {
    auto [batch_size, n_steps, n_states] = filtered.shape();
    Matrix<double> of_predicted(predicted.shape()), of_transition(transition.shape());
    Array<double, 3> of_log_emission(filtered.shape());
    Vector<double> later(n_states);  // gradient in the filtered states, by later steps
    Vector<double> ahead(n_states);  // gradient in the predicted states
    for (Index b = 0; b < batch_size; ++b) {
        later.fill(0.0);
        for (Index t = n_steps - 1; t >= 0; --t) {
            View<const double, 1> now = filtered[b][t];
            double mean = 0.0;
            for (Index k = 0; k < n_states; ++k) {
                later(k) += slope(b, t, k);
                mean += now(k) * later(k);
            }
            for (Index k = 0; k < n_states; ++k) {
                // Probabilities sum to one: only what is above the mean counts.
                double excess = later(k) - mean + slope_of_likelihood(b, t);
                of_log_emission(b, t, k) = now(k) * excess;
                ahead(k) = weight(b, t, k) * excess;
            }
            if (t == 0) {
                std::copy(ahead.begin(), ahead.end(), of_predicted[b].begin());
                break;
            }
            View<const double, 1> before = filtered[b][t - 1];
            for (Index i = 0; i < n_states; ++i) {
                later(i) = 0.0;
                for (Index j = 0; j < n_states; ++j) {
                    later(i) += transition(i, j) * ahead(j);
                    of_transition(i, j) += before(i) * ahead(j);
                }
            }
        }
    }
    return {std::move(of_predicted), std::move(of_transition),
            std::move(of_log_emission)};
}

}  // namespace

void add_sequences_networks(nb::module_& module) {
    module.attr("IMPOSSIBLE") = IMPOSSIBLE;
    add_kernel(module, "filter_streams", &filter_streams);
    add_kernel(module, "filter_streams_backward", &filter_streams_backward);
}
