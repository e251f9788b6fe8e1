// Recursions over the steps of several sequences, one after the other.
//
// All take a block of steps of sequences; what one block leaves behind is where the
// next one starts. The number k of states is a multiple of four, with states of
// probability 0 at the end.
#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// Probabilities of a step below this are found again in logarithms.
constexpr double TINY = 1e-250;

// Nothing is divided by less.
constexpr double FLOOR = 1e-300;

// Columns that are worked on side by side.
constexpr Index LANES = 4;
using Lanes = std::array<double, LANES>;

// Product of a row and a square matrix, four rows at a time.
void times(View<const double, 1> vector, View<const double, 2> matrix,
           View<double, 1> out) {
    Index k = vector.size();
    for (Index j = 0; j < k; j += LANES) {
        Lanes sums{};
        for (Index i = 0; i < k; i += 4) {
            double a = vector(i), b = vector(i + 1);
            double c = vector(i + 2), d = vector(i + 3);
            const double* rows = &matrix(i, j);
            for (Index l = 0; l < LANES; ++l)
                sums[l] += (a * rows[l] + b * rows[k + l]) +
                           (c * rows[2 * k + l] + d * rows[3 * k + l]);
        }
        std::copy(sums.begin(), sums.end(), &out(j));
    }
}

// Steps of a block: the kind of each, the steps between which sequences are, and the
// first step of the block.
struct Steps {
    View<const std::int32_t, 1> kind;
    View<const Index, 1> bounds;
    Index first;
    auto fields() { return std::tie(kind, bounds, first); }
};

// Number of the sequence that a step belongs to.
Index sequence_at(View<const Index, 1> bounds, Index step) {
    return std::upper_bound(bounds.begin(), bounds.end(), step) - bounds.begin() - 1;
}

// Predicted probabilities times those of what is seen, where these are tiny.
//
// Returns the log of what the products were divided by; -inf, and the prediction itself
// in found, where what is seen is impossible.
double weigh_in_logs(View<const double, 1> predicted, View<const double, 1> log_row,
                     View<double, 1> found) {
    double top = -infinity;
    for (Index j = 0; j < log_row.size(); ++j) {
        found(j) = -infinity;
        if (predicted(j) > 0.0) {
            found(j) = std::log(predicted(j)) + log_row(j);
            top = std::max(top, found(j));
        }
    }
    for (Index j = 0; j < log_row.size(); ++j)
        found(j) = top == -infinity ? predicted(j) : std::exp(found(j) - top);
    return top;
}

// How sequences go on: the probabilities of the first state and of those after each.
struct Chain {
    View<const double, 1> startprob;
    View<const double, 2> transmat;
    auto fields() { return std::tie(startprob, transmat); }
};

// Per kind of step: log probabilities in every state, the same with the largest taken
// off and exponentiated, and that largest.
struct Seen {
    View<const double, 2> log, weight;
    View<const double, 1> offset;
    auto fields() { return std::tie(log, weight, offset); }
};

// Forward filter, scaled: P(state | all up to its step).
//
// predicted : (k,), P(state of the next step | all before it); changed in place
// filtered : (n, k), filled in
// inverse : (n, k) or (0, k), filled in with one over what was predicted, where it has
//     rows
// log_p : (sequences,), the log-likelihood of the block is added to it
void filter_block(const Chain& chain, const Seen& seen, const Steps& steps,
                  View<double, 1> predicted, View<double, 2> filtered,
                  View<double, 2> inverse, View<double, 1> log_p) {
    auto [n, k] = filtered.shape();
    bool keeps = inverse.size(0) > 0;
    // Vectors of its own share no memory, and are fast to work on.
    Vector<double> now = copy_of(predicted), found(k);
    Index s = sequence_at(steps.bounds, steps.first);
    double total = 0.0, product = 1.0;
    for (Index i = 0; i < n; ++i) {
        Index t = steps.first + i;
        if (steps.bounds(s + 1) == t) {
            log_p(s) += total + std::log(product);
            total = 0.0;
            product = 1.0;
            ++s;
        }
        if (steps.bounds(s) == t)
            std::copy(chain.startprob.begin(), chain.startprob.end(), now.begin());
        Index kind = steps.kind(i);
        View<const double, 1> weight = seen.weight[kind];
        for (Index j = 0; j < k; ++j) found(j) = now(j) * weight(j);
        double norm = 0.0;
        for (Index j = 0; j < k; j += 4)
            norm += (found(j) + found(j + 1)) + (found(j + 2) + found(j + 3));
        total += seen.offset(kind);
        if (norm < TINY) {
            total += weigh_in_logs(now, seen.log[kind], found) - seen.offset(kind);
            norm = sum(found);
        }
        product *= norm;
        if (product < TINY || product > 1.0 / TINY) {
            total += std::log(product);
            product = 1.0;
        }
        if (keeps)
            for (Index j = 0; j < k; ++j) inverse(i, j) = 1.0 / std::max(now(j), FLOOR);
        times(found, chain.transmat, now);
        double scale = 1.0 / norm;
        for (Index j = 0; j < k; ++j) {
            now(j) *= scale;
            filtered(i, j) = found(j) * scale;
        }
    }
    log_p(s) += total + std::log(product);
    std::copy(now.begin(), now.end(), predicted.begin());
}

// Smoother, backwards: P(state | whole sequence), without the emissions.
//
// transposed : (k, k), transition matrix, columns first
// ratio : (k,), of the step behind the block: smoothed over predicted probabilities;
//     changed in place, into that of the first step
// filtered, inverse : (n, k), from filter_block. The second becomes the ratio of every
//     step that has one before it in its sequence, 0 for the others: products of the
//     first with the second one step later add up to expected transitions over their
//     probability.
// start_count, row_count : (k,) and (kinds, k), smoothed probabilities are added: at
//     the begin of sequences, and per kind
void smooth_block(View<const double, 2> transposed, const Steps& steps,
                  View<double, 1> ratio, View<const double, 2> filtered,
                  View<double, 2> inverse, View<double, 1> start_count,
                  View<double, 2> row_count) {
    auto [n, k] = filtered.shape();
    Vector<double> after = copy_of(ratio), smoothed(k);
    Index s = sequence_at(steps.bounds, steps.first + n);
    for (Index i = n - 1; i >= 0; --i) {
        Index t = steps.first + i;
        if (steps.bounds(s) == t + 1) {  // the last step of its sequence
            smoothed.fill(1.0);
            --s;
        } else {
            times(after, transposed, smoothed);
        }
        bool begin = steps.bounds(s) == t;
        View<double, 1> count = row_count[steps.kind(i)];
        for (Index j = 0; j < k; ++j) {
            smoothed(j) *= filtered(i, j);
            count(j) += smoothed(j);
            after(j) = smoothed(j) * inverse(i, j);
            inverse(i, j) = begin ? 0.0 : after(j);
        }
        if (begin)
            for (Index j = 0; j < k; ++j) start_count(j) += smoothed(j);
    }
    std::copy(after.begin(), after.end(), ratio.begin());
}

// Backward sampling: states drawn jointly, from the last step to the first.
//
// first : step at which the block begins; after : state of the step behind it
// uniform : (n,), a number between 0 and 1 per step
// states : (n,), filled in
void draw_block(View<const double, 2> transposed, View<const Index, 1> bounds,
                Index first, Index after, View<const double, 2> filtered,
                View<const double, 1> uniform, View<std::int32_t, 1> states) {
    auto [n, k] = filtered.shape();
    Vector<double> cumulated(k);
    Index s = sequence_at(bounds, first + n);
    for (Index i = n - 1; i >= 0; --i) {
        double total = 0.0;
        if (bounds(s) == first + i + 1) {
            --s;
            for (Index j = 0; j < k; ++j) cumulated(j) = total += filtered(i, j);
        } else {
            View<const double, 1> into = transposed[after];
            for (Index j = 0; j < k; ++j)
                cumulated(j) = total += filtered(i, j) * into(j);
        }
        double goal = uniform(i) * total;
        after = 0;
        // A state without probability adds nothing, and is never stopped at.
        while (cumulated(after) <= goal && cumulated(after) < total) ++after;
        states(i) = std::int32_t(after);
    }
}

// Where a state before each is better than the best so far, take it. States are
// doubles, so that all work is on numbers of one width.
void improve(double score, double state, View<const double, 1> log_transmat,
             View<double, 1> found, View<double, 1> before) {
    const double* __restrict row = log_transmat.begin();
    double* __restrict best = found.begin();
    double* __restrict from = before.begin();
    Index k = found.size();
    // Two loops, as compilers make branches of two choices in one.
    for (Index j = 0; j < k; ++j) {
        double other = from[j];
        from[j] = score + row[j] > best[j] ? state : other;
    }
    for (Index j = 0; j < k; ++j) best[j] = std::max(best[j], score + row[j]);
}

// Viterbi: the most probable states of every sequence, the first of equals.
//
// What is impossible in all states that can be there is passed over like a missing
// step, with a log probability of -inf. Here k is the number of states itself.
//
// kind : (n,), of every step
// come_from : (n, k), scratch, of a type that holds a state: the best state before each
// states, log_joint : (n,) and (sequences,), filled in, and added to
template <typename State>
void best_paths(View<const double, 1> log_start, View<const double, 2> log_transmat,
                View<const double, 2> log_rows, View<const std::int32_t, 1> kind,
                View<const Index, 1> bounds, View<State, 2> come_from,
                View<std::int32_t, 1> states, View<double, 1> log_joint) {
    auto [n, k] = come_from.shape();
    Vector<double> score(k), found(k), before(k);
    Index s = -1;
    for (Index t = 0; t < n; ++t) {
        if (bounds(s + 1) == t) {
            ++s;
            std::copy(log_start.begin(), log_start.end(), found.begin());
        } else {
            found.fill(-infinity);
            before.fill(0.0);
            for (Index i = 0; i < k; ++i)
                improve(score(i), double(i), log_transmat[i], found, before);
            for (Index j = 0; j < k; ++j) come_from(t, j) = State(before(j));
        }
        double top = -infinity;
        for (Index j = 0; j < k; ++j) {
            score(j) = found(j) + log_rows(kind(t), j);
            top = std::max(top, score(j));
        }
        if (top == -infinity) {
            std::copy(found.begin(), found.end(), score.begin());
            log_joint(s) = -infinity;
        }
        if (t == bounds(s + 1) - 1) {
            Index best = argmax(score);
            log_joint(s) += score(best);
            states(t) = std::int32_t(best);
            for (Index back = t; back > bounds(s); --back)
                states(back - 1) = std::int32_t(best = come_from(back, best));
        }
    }
}

// Count the states at bounds of sequences, and pairs of states in a row.
void count_changes(View<const Index, 1> states, View<const Index, 1> bounds,
                   View<double, 1> start_count, View<double, 2> pair_count) {
    Index s = 0;
    for (Index t = 0; t < states.size(); ++t) {
        if (bounds(s) == t) {
            start_count(states(t)) += 1.0;
            ++s;
        } else {
            pair_count(states(t - 1), states(t)) += 1.0;
        }
    }
}

// Count how often each kind of step met each state.
void count_kinds(View<const Index, 1> states, View<const Index, 1> kind,
                 View<double, 2> row_count) {
    for (Index t = 0; t < states.size(); ++t) row_count(kind(t), states(t)) += 1.0;
}

}  // namespace

void add_sequences(nb::module_& module) {
    add_kernel(module, "filter_block", &filter_block);
    add_kernel(module, "smooth_block", &smooth_block);
    add_kernel(module, "draw_block", &draw_block);
    add_kernel(module, "best_paths", &best_paths<std::uint8_t>);
    add_kernel(module, "best_paths", &best_paths<std::uint16_t>);
    add_kernel(module, "count_changes", &count_changes);
    add_kernel(module, "count_kinds", &count_kinds);
}
