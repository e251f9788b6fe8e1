// The forward recursion of hidden Markov models, an LSTM with peepholes, and the
// gradients of both.
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

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// States of an LSTM whose input and forget gate read the cell before them, and whose
// output gate reads the cell after them (Gers & Schmidhuber, 2000).
//
// from_input : (streams, steps, 4 units), what the gates (input, forget, cell, output)
//     get from the input
// recurrent : (units, 4 units), weights from the units to the gates
// peephole : (3, units), weights of the cell in the input, forget and output gate
// first, first_cell : (streams, units), state before the first step
//
// Returns
// hidden, cell : (streams, steps + 1, units), the first state included
// gate : (streams, steps, 4 units), activations
std::tuple<Array<double, 3>, Array<double, 3>, Array<double, 3>> lstm_steps(
    View<const double, 3> from_input, View<const double, 2> recurrent,
    View<const double, 2> peephole, View<const double, 2> first,
    View<const double, 2> first_cell) {
    auto [batch_size, n_steps, n_gates] = from_input.shape();
    Index n = n_gates / 4;
    Array<double, 3> hidden({batch_size, n_steps + 1, n}), cell(hidden.shape());
    Array<double, 3> gate = copy_of(from_input);
    for (Index b = 0; b < batch_size; ++b) {
        std::copy(first[b].begin(), first[b].end(), hidden[b][0].begin());
        std::copy(first_cell[b].begin(), first_cell[b].end(), cell[b][0].begin());
        for (Index t = 0; t < n_steps; ++t) {
            View<double, 1> h = hidden[b][t], c = cell[b][t], a = gate[b][t];
            View<double, 1> next_h = hidden[b][t + 1], next_c = cell[b][t + 1];
            for (Index j = 0; j < n; ++j)
                for (Index k = 0; k < n_gates; ++k) a(k) += h(j) * recurrent(j, k);
            for (Index j = 0; j < n; ++j) {
                double& in = a(j) = logistic(a(j) + peephole(0, j) * c(j));
                double& keep = a(n + j) = logistic(a(n + j) + peephole(1, j) * c(j));
                double& fresh = a(2 * n + j) = std::tanh(a(2 * n + j));
                next_c(j) = keep * c(j) + in * fresh;
                double& out = a(3 * n + j);
                out = logistic(out + peephole(2, j) * next_c(j));
                next_h(j) = out * std::tanh(next_c(j));
            }
        }
    }
    return {std::move(hidden), std::move(cell), std::move(gate)};
}

// Backpropagation through the steps above.
//
// slope : (streams, steps + 1, units), gradient of a function in hidden
// slope_of_cell : (streams, units), its gradient in the last cell
//
// Returns its gradients in from_input, recurrent, peephole, first and first_cell.
std::tuple<Array<double, 3>, Matrix<double>, Matrix<double>, Matrix<double>,
           Matrix<double>>
lstm_steps_backward(View<const double, 2> recurrent, View<const double, 2> peephole,
                    View<const double, 3> hidden, View<const double, 3> cell,
                    View<const double, 3> gate, View<const double, 3> slope,
                    View<const double, 2> slope_of_cell) {
    auto [batch_size, n_steps, n_gates] = gate.shape();
    Index n = n_gates / 4;
    Array<double, 3> of_input(gate.shape());
    Matrix<double> of_recurrent(recurrent.shape()), of_peephole(peephole.shape());
    Matrix<double> of_first({batch_size, n}), of_first_cell = copy_of(slope_of_cell);
    for (Index b = 0; b < batch_size; ++b) {
        // Gradients in the state after a step, by all later ones.
        View<double, 1> later = of_first[b], later_cell = of_first_cell[b];
        std::copy(slope[b][n_steps].begin(), slope[b][n_steps].end(), later.begin());
        for (Index t = n_steps - 1; t >= 0; --t) {
            View<const double, 1> h = hidden[b][t], c = cell[b][t], a = gate[b][t];
            View<double, 1> of = of_input[b][t];
            for (Index j = 0; j < n; ++j) {
                double next_c = cell(b, t + 1, j), squashed = std::tanh(next_c);
                double in = a(j), keep = a(n + j), fresh = a(2 * n + j), out = a(3 * n + j);
                double of_out = later(j) * squashed * out * (1.0 - out);
                double of_cell = later_cell(j) + of_out * peephole(2, j) +
                                 later(j) * out * (1.0 - squashed * squashed);
                double of_in = of_cell * fresh * in * (1.0 - in);
                double of_keep = of_cell * c(j) * keep * (1.0 - keep);
                of(j) = of_in;
                of(n + j) = of_keep;
                of(2 * n + j) = of_cell * in * (1.0 - fresh * fresh);
                of(3 * n + j) = of_out;
                of_peephole(0, j) += of_in * c(j);
                of_peephole(1, j) += of_keep * c(j);
                of_peephole(2, j) += of_out * next_c;
                later_cell(j) = of_cell * keep + of_in * peephole(0, j) +
                                of_keep * peephole(1, j);
            }
            for (Index j = 0; j < n; ++j) {
                double total = slope(b, t, j), now = h(j);
                for (Index k = 0; k < n_gates; ++k) total += recurrent(j, k) * of(k);
                for (Index k = 0; k < n_gates; ++k) of_recurrent(j, k) += now * of(k);
                later(j) = total;
            }
        }
    }
    return {std::move(of_input), std::move(of_recurrent), std::move(of_peephole),
            std::move(of_first), std::move(of_first_cell)};
}

}  // namespace

void add_sequences_networks(nb::module_& module) {
    module.attr("IMPOSSIBLE") = IMPOSSIBLE;
    add_kernel(module, "filter_streams", &filter_streams);
    add_kernel(module, "filter_streams_backward", &filter_streams_backward);
    add_kernel(module, "lstm_steps", &lstm_steps);
    add_kernel(module, "lstm_steps_backward", &lstm_steps_backward);
}
