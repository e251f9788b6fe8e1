// The hot loops of the exact sum over all trees: tables of counts, one level at a time.
//
// A *state* is a set of conditions (feature, value); in which order they come
// does not matter. The states of one level have equally many conditions. They are
// numbered by their features first, in colexicographic order (the rank of
// j_1 < ... < j_d is C(j_1, 1) + ... + C(j_d, d)), then by their values, the lowest
// feature running fastest:
//
//     state = start[rank] + x_{j_1} + x_{j_2} m_{j_1} + x_{j_3} m_{j_1} m_{j_2} + ...
//
// with m_j the number of values of feature j.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

// How the states of one level, sets of size features, and of the level with one feature
// more are numbered.
struct Numbers {
    View<const Index, 1> n_values;
    View<const Index, 2> binomial;
    View<const Index, 1> start, start_below;
    Index size;
    auto fields() { return std::tie(n_values, binomial, start, start_below, size); }
    Index n_sets() const { return start.size() - 1; }
};

// Logarithms of the prior: of a leaf, and of any one question.
//
// With one column no question comes twice. Otherwise column r is for states after which
// r questions may follow: one used before sends all rows to one child, and the m - 1
// others are void.
struct Prior {
    View<const double, 1> stop, ask;
    auto fields() { return std::tie(stop, ask); }
    Index n_columns() const { return stop.size(); }
};

// Step to the next set of features; return the highest place that changed.
Index next_subset(View<Index, 1> subset) {
    Index size = subset.size();
    for (Index i = 0; i < size; ++i) {
        if (i + 1 == size || subset[i] + 1 < subset[i + 1]) {
            subset[i] += 1;
            for (Index lower = 0; lower < i; ++lower) subset[lower] = lower;
            return i;
        }
    }
    return size - 1;
}

Vector<Index> first_subset(Index size) {
    Vector<Index> subset(size);
    for (Index i = 0; i < size; ++i) subset[i] = i;
    return subset;
}

// A set of features, and what is needed to number the sets with one feature more.
//
// With a new feature at place i, the rank is low[i] + C(feature, i + 1) + high[i] and
// the values of the new feature are stride[i] states apart. stride[size] states share
// the features of the set.
struct Set {
    const Numbers& numbers;
    Vector<Index> subset, low, high, stride;

    explicit Set(const Numbers& numbers)
        : numbers(numbers), subset(first_subset(numbers.size)), low(numbers.size + 1),
          high(numbers.size + 1), stride(numbers.size + 1) {}

    // To be called wherever subset has changed.
    void split_rank() {
        Index size = numbers.size;
        low[0] = 0;
        stride[0] = 1;
        high[size] = 0;
        for (Index i = 0; i < size; ++i) {
            low[i + 1] = low[i] + numbers.binomial(subset[i], i + 1);
            stride[i + 1] = stride[i] * numbers.n_values[subset[i]];
        }
        for (Index i = size - 1; i >= 0; --i)
            high[i] = high[i + 1] + numbers.binomial(subset[i], i + 2);
    }

    Index n_states() const { return stride[numbers.size]; }
    Index rank_with(Index feature, Index place) const {
        return low[place] + numbers.binomial(feature, place + 1) + high[place];
    }

    // Sum of what is below the children of each new question; -inf for those used.
    void score_new(View<const double, 2> below, Index cell, Index column,
                   View<double, 1> scores) const {
        Index place = 0, step = 1, inner = 0, outer = cell;
        for (Index feature = 0; feature < scores.size(); ++feature) {
            if (place < numbers.size && subset[place] == feature) {
                scores[feature] = -infinity;
                step = stride[++place];
                inner = cell % step;
                outer = cell / step * step;
                continue;
            }
            Index m = numbers.n_values[feature];
            Index child = numbers.start_below[rank_with(feature, place)] + inner +
                          outer * m;
            double total = 0.0;
            for (Index value = 0; value < m; ++value)
                total += below(child + value * step, column);
            scores[feature] = total;
        }
    }
};

// First state of each set of size features, and behind the last one.
Vector<Index> level_starts(View<const Index, 1> n_values, Index size, Index n_sets) {
    Vector<Index> start(n_sets + 1), subset = first_subset(size);
    for (Index rank = 0; rank < n_sets; ++rank) {
        Index states = 1;
        for (Index feature : subset) states *= n_values[feature];
        start[rank + 1] = start[rank] + states;
        next_subset(subset);
    }
    return start;
}

// Sum the statistics of the rows in every state of one level. columns is features by
// rows.
//
// Neighbouring sets share their high features, so the part of a row's state that these
// decide is kept.
Matrix<double> tabulate(View<const std::int32_t, 2> columns,
                        View<const double, 2> row_stats, View<const Index, 1> n_values,
                        View<const Index, 1> start, Index size) {
    Index n_rows = row_stats.size(0), n_stats = row_stats.size(1);
    Matrix<double> table({start[start.size() - 1], n_stats});
    Matrix<Index> keys({size + 1, n_rows});
    Vector<Index> subset = first_subset(size);
    Index changed = size - 1;
    for (Index rank = 0; rank < start.size() - 1; ++rank) {
        for (Index i = changed; i >= 0; --i) {
            Index m = n_values[subset[i]];
            View<const std::int32_t, 1> column = columns[subset[i]];
            View<Index, 1> above = keys[i + 1], here = keys[i];
            for (Index row = 0; row < n_rows; ++row)
                here[row] = above[row] * m + column[row];
        }
        View<double, 2> part = table.part(start[rank], start[rank + 1]);
        View<Index, 1> key = keys[0];
        for (Index row = 0; row < n_rows; ++row)
            for (Index k = 0; k < n_stats; ++k) part(key[row], k) += row_stats(row, k);
        changed = next_subset(subset);
    }
    return table;
}

// Statistics of one level from those of the level with one feature more.
Matrix<double> marginalise(const Numbers& numbers, View<const double, 2> table_below) {
    Index n_stats = table_below.size(1);
    Matrix<double> table({numbers.start[numbers.n_sets()], n_stats});
    Set set(numbers);
    for (Index rank = 0; rank < numbers.n_sets(); ++rank, next_subset(set.subset)) {
        set.split_rank();
        // The lowest feature that is not in the set stands behind a run 0, 1, ...
        Index place = 0;
        while (place < numbers.size && set.subset[place] == place) ++place;
        Index m = numbers.n_values[place], step = set.stride[place];
        Index begin = numbers.start_below[set.rank_with(place, place)];
        for (Index cell = 0; cell < set.n_states(); ++cell) {
            Index first = begin + cell % step + cell / step * step * m;
            for (Index value = 0; value < m; ++value)
                for (Index k = 0; k < n_stats; ++k)
                    table(numbers.start[rank] + cell, k) +=
                        table_below(first + value * step, k);
        }
    }
    return table;
}

double maximum(View<const double, 1> values) {
    double result = -infinity;
    for (double value : values) result = std::max(result, value);
    return result;
}

// log(exp(stop) + sum(exp(log_ask + scores))).
double log_add(double stop, double log_ask, View<const double, 1> scores) {
    double top = std::max(stop, log_ask + maximum(scores));
    if (top == -infinity) return top;
    double total = std::exp(stop - top);
    for (double score : scores) total += std::exp(log_ask + score - top);
    return top + std::log(total);
}

// Equation (11), summed over the feature too, for all states of one level.
//
// log_void : by column, log evidence of each void child
// skipped : trees that ask about this feature are left out; -1 for none
// log_sum : written, of shape (n_states, n_columns)
void add_level(const Numbers& numbers, const Prior& prior,
               View<const double, 1> log_leaf, View<const double, 2> log_below,
               View<const double, 1> log_void, Index skipped, View<double, 2> log_sum) {
    Vector<double> scores(numbers.n_values.size());
    Set set(numbers);
    for (Index rank = 0; rank < numbers.n_sets(); ++rank, next_subset(set.subset)) {
        set.split_rank();
        for (Index cell = 0; cell < set.n_states(); ++cell) {
            Index state = numbers.start[rank] + cell;
            for (Index r = 0; r < prior.n_columns(); ++r) {
                double stop = prior.stop[r] + log_leaf[state];
                if (prior.ask[r] == -infinity) {
                    log_sum(state, r) = stop;
                    continue;
                }
                set.score_new(log_below, cell, std::max<Index>(r - 1, 0), scores);
                if (prior.n_columns() > 1)
                    for (Index used : set.subset)
                        scores[used] =
                            log_sum(state, r - 1) +
                            double(numbers.n_values[used] - 1) * log_void[r - 1];
                if (skipped >= 0) scores[skipped] = -infinity;
                log_sum(state, r) = log_add(stop, prior.ask[r], scores);
            }
        }
    }
}

// The best tree below every state of one level: its value, its size, and the feature it
// asks about first, -1 to stop.
struct Best {
    View<double, 2> log_best, n_nodes;
    View<std::int32_t, 2> choice;
    auto fields() { return std::tie(log_best, n_nodes, choice); }
};

// The same over no rows at all, by column.
struct BestVoid {
    View<const double, 1> log_best, n_nodes;
    auto fields() { return std::tie(log_best, n_nodes); }
};

// As add_level with the maximum in place of the sum; best is written.
//
// Among values within tie of the best the smallest tree wins, then the one that stops,
// then the lowest feature.
void best_level(const Numbers& numbers, const Prior& prior,
                View<const double, 1> log_leaf, const Best& below,
                const BestVoid& void_tree, double tie, const Best& best) {
    Vector<double> scores(numbers.n_values.size()), sizes(numbers.n_values.size());
    Set set(numbers);
    for (Index rank = 0; rank < numbers.n_sets(); ++rank, next_subset(set.subset)) {
        set.split_rank();
        for (Index cell = 0; cell < set.n_states(); ++cell) {
            Index state = numbers.start[rank] + cell;
            for (Index r = 0; r < prior.n_columns(); ++r) {
                double& log_best = best.log_best(state, r);
                double& n_nodes = best.n_nodes(state, r);
                std::int32_t& choice = best.choice(state, r);
                log_best = prior.stop[r] + log_leaf[state];
                n_nodes = 1.0;
                choice = -1;
                if (prior.ask[r] == -infinity) continue;
                Index column = std::max<Index>(r - 1, 0);
                set.score_new(below.log_best, cell, column, scores);
                set.score_new(below.n_nodes, cell, column, sizes);
                if (prior.n_columns() > 1)
                    for (Index used : set.subset) {
                        double others = double(numbers.n_values[used] - 1);
                        scores[used] = best.log_best(state, r - 1) +
                                        others * void_tree.log_best[r - 1];
                        sizes[used] = best.n_nodes(state, r - 1) +
                                       others * void_tree.n_nodes[r - 1];
                    }
                double top = std::max(log_best, prior.ask[r] + maximum(scores));
                bool found = log_best >= top - tie;
                for (Index feature = 0; feature < scores.size(); ++feature) {
                    double value = prior.ask[r] + scores[feature];
                    if (value >= top - tie &&
                        (!found || 1.0 + sizes[feature] < n_nodes)) {
                        found = true;
                        log_best = value;
                        choice = std::int32_t(feature);
                        n_nodes = 1.0 + sizes[feature];
                    }
                }
            }
        }
    }
}

// Log evidence of a leaf at every state of one level, of all trees below every state,
// and the latter of the level with one feature more.
struct Evidence {
    View<const double, 1> log_leaf;
    View<const double, 2> log_sum, log_below;
    auto fields() { return std::tie(log_leaf, log_sum, log_below); }
};

// Its exponential; what is less than any sum would show is nothing.
//
// Products of tiny numbers would else become denormal, and slow.
double share(double log_share) {
    return log_share > -100.0 ? std::exp(log_share) : 0.0;
}

// Add to the total of every row its share of what is here.
void add_shares(View<double, 1> total, View<const double, 1> here,
                View<const double, 1> shares, View<const Index, 1> cells) {
    for (Index row = 0; row < cells.size(); ++row)
        total[row] += here[row] * shares[cells[row]];
}

// Posterior probability that the leaf of a row is each state of one level.
//
// columns : features by rows
// reach : sets by columns by rows, the probability that the tree comes to the row's
//         state; it is passed on to reach_below
// states, weights : sets by rows; written, the row's states and what stops there
void pass_down(const Numbers& numbers, const Prior& prior, const Evidence& evidence,
               View<const std::int32_t, 2> columns, View<double, 3> reach,
               View<double, 3> reach_below, View<Index, 2> states,
               View<double, 2> weights) {
    Index n_features = numbers.n_values.size(), n_rows = columns.size(1);
    Index most_cells = 1;
    for (Index rank = 0; rank < numbers.n_sets(); ++rank)
        most_cells =
            std::max(most_cells, numbers.start[rank + 1] - numbers.start[rank]);
    Vector<Index> cells(n_rows);
    Vector<bool> seen(most_cells);
    Vector<double> scores(n_features);
    // Of every question, of all questions used before, and of stopping.
    Matrix<double> shares({n_features + 2, most_cells});
    View<double, 1> asking_again = shares[n_features];
    View<double, 1> stopping = shares[n_features + 1];
    Set set(numbers);
    for (Index rank = 0; rank < numbers.n_sets(); ++rank, next_subset(set.subset)) {
        set.split_rank();
        cells.fill(0);
        seen.fill(false);
        for (Index i = 0; i < numbers.size; ++i) {
            View<const std::int32_t, 1> column = columns[set.subset[i]];
            for (Index row = 0; row < n_rows; ++row)
                cells[row] += column[row] * set.stride[i];
        }
        for (Index row = 0; row < n_rows; ++row) {
            seen[cells[row]] = true;
            states(rank, row) = numbers.start[rank] + cells[row];
            weights(rank, row) = 0.0;
        }
        for (Index r = prior.n_columns() - 1; r >= 0; --r) {
            bool asks = prior.ask[r] > -infinity;
            Index column = std::max<Index>(r - 1, 0);
            for (Index cell = 0; cell < set.n_states(); ++cell) {
                if (!seen[cell]) continue;
                Index state = numbers.start[rank] + cell;
                double whole = evidence.log_sum(state, r);
                double stop = prior.stop[r] + evidence.log_leaf[state];
                stopping[cell] = share(stop - whole);
                if (!asks) continue;
                if (prior.n_columns() > 1) {
                    double again = prior.ask[r] + evidence.log_sum(state, r - 1);
                    asking_again[cell] = double(numbers.size) * share(again - whole);
                }
                set.score_new(evidence.log_below, cell, column, scores);
                for (Index feature = 0; feature < n_features; ++feature)
                    shares(feature, cell) =
                        share(prior.ask[r] + scores[feature] - whole);
            }
            View<double, 1> here = reach[rank][r];
            add_shares(weights[rank], here, stopping, cells);
            if (!asks) continue;
            if (prior.n_columns() > 1)
                add_shares(reach[rank][r - 1], here, asking_again, cells);
            Index place = 0;
            for (Index feature = 0; feature < n_features; ++feature) {
                if (place < numbers.size && set.subset[place] == feature) {
                    ++place;
                    continue;
                }
                View<double, 2> below = reach_below[set.rank_with(feature, place)];
                add_shares(below[column], here, shares[feature], cells);
            }
        }
    }
}

}  // namespace

void add_metatree_exact(nb::module_& module) {
    add_kernel(module, "level_starts", &level_starts);
    add_kernel(module, "tabulate", &tabulate);
    add_kernel(module, "marginalise", &marginalise);
    add_kernel(module, "add_level", &add_level);
    add_kernel(module, "best_level", &best_level);
    add_kernel(module, "pass_down", &pass_down);
}
