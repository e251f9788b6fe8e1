// Scores, and sums over forests.
#include "_kernels.hpp"

#include "../distributions/leaf_model.hpp"

using namespace clearwood;
using namespace clearwood::sbfc;

namespace {

// Scores

// log gamma(start + n) - log gamma(start) of every start (row), n < size.
Matrix<double> rising_table(View<const double, 1> starts, Index size) {
    Matrix<double> table({starts.size(), size});
    for (Index i = 0; i < starts.size(); ++i)
        for (Index n = 0; n < size; ++n)
            table(i, n) = distributions::log_gamma_rise(starts[i], double(n));
    return table;
}

// One such number: looked up where the table reaches.
double rising(View<const double, 1> table, double start, double count) {
    if (count < double(table.size())) return table[Index(count)];
    return distributions::log_gamma_rise(start, count);
}

// Sums over the cells of two features, without and with the class.
//
// counts : rows of each class with each pair of levels, feature after feature, of shape
//     (n_classes, n_levels of first, n_levels of second)
// first, second : the features that they belong to
// levels, kind : number of levels of every feature, and its place among the different
//     numbers
// starts : pseudo-count of each cell, of shape (2, n_kinds, n_kinds)
// tables : of rising_table, of shape (2, n_kinds, n_kinds, size); size 0 to have
//     nothing looked up
//
// Returns an array of shape (2, len(first), len(second)).
template <typename Count>
Array<double, 3> joint_scores(View<const Count, 3> counts, View<const Index, 1> first,
                              View<const Index, 1> second, View<const Index, 1> levels,
                              View<const Index, 1> kind, View<const double, 3> starts,
                              View<const double, 4> tables) {
    Array<double, 3> total({2, first.size(), second.size()});
    Index row = 0;
    for (Index a = 0; a < first.size(); ++a) {
        Index column = 0, i = kind[first[a]];
        for (Index b = 0; b < second.size(); ++b) {
            Index j = kind[second[b]];
            View<const double, 1> plain = tables[0][i][j], by_class = tables[1][i][j];
            double of_all = 0.0, of_classes = 0.0;
            for (Index k = row; k < row + levels[first[a]]; ++k)
                for (Index m = column; m < column + levels[second[b]]; ++m) {
                    double both = 0.0;
                    for (Index c = 0; c < counts.size(0); ++c) {
                        double count = counts(c, k, m);
                        both += count;
                        of_classes += rising(by_class, starts(1, i, j), count);
                    }
                    of_all += rising(plain, starts(0, i, j), both);
                }
            total(0, a, b) = of_all;
            total(1, a, b) = of_classes;
            column += levels[second[b]];
        }
        row += levels[first[a]];
    }
    return total;
}

// Sums over forests

// Edges of a lower log weight change no sum over forests.
constexpr double NOTHING = -50.0;

// Log weights between some features and the ground.
Matrix<double> with_ground(View<const double, 2> log_weight,
                           View<const Index, 1> members) {
    Matrix<double> found = only_ground(members.size());
    for (Index i = 0; i < members.size(); ++i)
        for (Index j = 0; j < i; ++j)
            found(i + 1, j + 1) = log_weight(members[i], members[j]);
    return found;
}

// Take out node k, the last one, by edges between all its neighbours, in place.
//
// Gaussian elimination that reads no diagonal, and so subtracts nothing (Grassmann,
// Taksar, Heyman 1985). What an edge through k gets is w_ik w_kj / sum_l w_kl. Returns
// the log of that sum: their product over all nodes is the determinant.
double eliminate_last(View<double, 2> graph, Index k) {
    View<const double, 1> row = graph[k].part(0, k);
    double top = *std::max_element(row.begin(), row.end());
    double total = 0.0;
    for (double weight : row)
        if (weight > top + NOTHING) total += std::exp(weight - top);
    double log_total = top + std::log(total);
    for (Index i = 0; i < k; ++i) {
        double first = row[i] - log_total;
        if (first + top < NOTHING) continue;
        View<double, 1> edges = graph[i];
        for (Index j = 0; j < i; ++j) {
            double through = first + row[j];
            if (through < NOTHING) continue;
            double gap = through - edges[j];
            if (gap > 0.0) {
                edges[j] = through;
                gap = -gap;
            }
            if (gap > -40.0) edges[j] += std::log1p(std::exp(gap));
        }
    }
    return log_total;
}

}  // namespace

namespace clearwood::sbfc {

Matrix<double> only_ground(Index n_features) {
    Matrix<double> found({n_features + 1, n_features + 1}, -infinity);
    for (Index i = 1; i <= n_features; ++i) found(i, 0) = 0.0;
    return found;
}

double log_sum_of_forests(View<double, 2> graph) {
    double total = 0.0;
    for (Index k = graph.size(0) - 1; k > 0; --k) total += eliminate_last(graph, k);
    return total;
}

Elimination eliminate_all(View<double, 2> graph) {
    Index n = graph.size(0);
    Elimination without{Array<double, 3>({n, n, n}), Vector<double>(n)};
    for (Index k = n - 1; k > 0; --k) {
        without.log_total[k] = eliminate_last(graph, k);
        for (Index i = 0; i < k; ++i)
            for (Index j = 0; j < i; ++j) without.left(k, i, j) = graph(i, j);
    }
    return without;
}

// The way of log_sum_of_forests back. An edge there stands for itself, or for a way
// through the node that was taken out, by their shares; and with t of the latter that
// node has on average 1 + t edges.
Matrix<double> edge_probabilities(View<double, 2> graph) {
    Index n = graph.size(0);
    Elimination without = eliminate_all(graph);
    Matrix<double> found({n, n});
    Vector<double> ends(n);
    for (Index k = 1; k < n; ++k) {
        View<const double, 1> row = graph[k];
        View<const double, 2> left = without.left[k];
        double log_total = without.log_total[k];
        ends.fill(0.0);
        for (Index i = 0; i < k; ++i)
            for (Index j = 0; j < i; ++j) {
                double through = row[i] + row[j] - log_total;
                if (found(i, j) == 0.0 || through < NOTHING) continue;
                double share = std::exp(std::min(through - left(i, j), 0.0));
                double moved = found(i, j) * share;
                found(i, j) -= moved;
                ends[i] += moved;
                ends[j] += moved;
            }
        double rest = 1.0 - 0.5 * sum(ends.part(0, k));
        for (Index i = 0; i < k; ++i)
            found(k, i) = std::max(std::exp(row[i] - log_total) * rest + ends[i], 0.0);
    }
    return found;
}

Index choose(View<const double, 1> log_share, Random random) {
    double top = *std::max_element(log_share.begin(), log_share.end());
    double total = 0.0;
    for (double x : log_share) total += std::exp(x - top);
    double left = random.uniform() * total;
    Index chosen = 0;
    for (Index i = 0; i < log_share.size(); ++i)
        if (log_share[i] > -infinity) {
            chosen = i;
            left -= std::exp(log_share[i] - top);
            if (left < 0.0) break;
        }
    return chosen;
}

// The same way back as in edge_probabilities. An edge of the tree that came through
// node k is cut, and its lower end hung at k: these ends are by their weights already,
// whatever else the tree is. Then k is hung at one of the nodes that are still tied to
// the ground.
Vector<Index> draw_tree(View<const double, 2> graph, const Elimination& without,
                        Random random) {
    Index n = graph.size(0);
    Vector<Index> parent(n);
    Vector<double> log_share(n);
    for (Index k = 1; k < n; ++k) {
        View<const double, 1> row = graph[k];
        for (Index i = 1; i < k; ++i) {
            Index p = parent[i];
            double through = row[i] + row[p] - without.log_total[k];
            double edge = without.left(k, std::max(i, p), std::min(i, p));
            if (random.uniform() < std::exp(through - edge)) parent[i] = k;
        }
        for (Index i = 0; i < k; ++i) {
            Index top = i;
            while (0 < top && top < k) top = parent[top];
            log_share[i] = top == 0 ? row[i] : -infinity;
        }
        parent[k] = choose(log_share.part(0, k), random);
    }
    return parent;
}

}  // namespace clearwood::sbfc

namespace {

// All sets

// The features of a set that is written as a number, feature 0 the lowest bit.
View<Index, 1> members_of(Index number, View<Index, 1> found) {
    Index m = 0;
    for (Index j = 0; j < found.size(); ++j)
        if (number >> j & 1) found[m++] = j;
    return found.part(0, m);
}

// Log sums over the forests of every set of features.
Vector<double> log_sums_of_sets(View<const double, 2> log_weight) {
    Vector<Index> features(log_weight.size(0));
    Vector<double> found(Index(1) << features.size());
    for (Index number = 0; number < found.size(); ++number)
        found[number] = log_sum_of_forests(
            with_ground(log_weight, members_of(number, features)));
    return found;
}

// Probabilities of edges (below the diagonal), averaged over sets.
Matrix<double> edges_of_sets(View<const double, 2> log_weight,
                             View<const Index, 1> numbers,
                             View<const double, 1> probability) {
    Vector<Index> features(log_weight.size(0));
    Matrix<double> found(log_weight.shape());
    for (Index s = 0; s < numbers.size(); ++s) {
        View<Index, 1> members = members_of(numbers[s], features);
        Matrix<double> edges = edge_probabilities(with_ground(log_weight, members));
        for (Index i = 0; i < members.size(); ++i)
            for (Index j = 0; j < i; ++j)
                found(members[i], members[j]) += probability[s] * edges(i + 1, j + 1);
    }
    return found;
}

}  // namespace

void add_sbfc(nb::module_& module) {
    add_kernel(module, "rising_table", &rising_table);
    add_kernel(module, "joint_scores", &joint_scores<float>);
    add_kernel(module, "joint_scores", &joint_scores<double>);
    add_kernel(module, "with_ground", &with_ground);
    add_kernel(module, "log_sum_of_forests", &log_sum_of_forests);
    add_kernel(module, "edge_probabilities", &edge_probabilities);
    add_kernel(module, "log_sums_of_sets", &log_sums_of_sets);
    add_kernel(module, "edges_of_sets", &edges_of_sets);
    add_moves(module);
    add_prediction(module);
    add_sweep(module);
}
