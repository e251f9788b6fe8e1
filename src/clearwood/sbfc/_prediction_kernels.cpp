// Predictions, averaged over graphs.
#include <numbers>

#include "_kernels.hpp"

using namespace clearwood;

namespace {

// Distinct conditional distributions of features, as in GraphAverage.
struct Conditionals {
    View<const Index, 1> child, parent;  // features; parent -1 for none
    View<const Index, 1> start;          // where the cells of each begin
    View<const double, 2> log_table;     // of the cells (rows), given the class

    auto fields() { return std::tie(child, parent, start, log_table); }
};

// Distinct graphs of these, and the order in which they were drawn; as in GraphAverage.
struct Graphs {
    View<const Index, 1> start;  // where the conditionals of each begin
    View<const Index, 1> entry;  // conditionals, children before their parents
    View<const Index, 1> above;  // place of that of the parent in its graph, -1: none
    View<const Index, 1> draws;

    auto fields() { return std::tie(start, entry, above, draws); }
};

// Log of the sum of the exponentials, as numpy.logaddexp.
double log_add(double x, double y) {
    if (x == y) return x + std::numbers::ln2;
    double gap = x - y;
    return gap > 0.0 ? x + std::log1p(std::exp(-gap)) : y + std::log1p(std::exp(gap));
}

// Log probability of a row in a forest, given a class; unknown levels summed out.
//
// Children come before their parents and send them a message: the log probability of
// all that is known below, for each level of the parent (belief).
double log_of_class(View<const Index, 1> codes, Index y, View<const Index, 1> levels,
                    const Conditionals& of, View<const Index, 1> entry,
                    View<const Index, 1> above, View<double, 2> belief) {
    double total = 0.0;
    for (Index e = 0; e < entry.size(); ++e)
        belief[e].part(0, levels[of.child[entry[e]]]).fill(0.0);
    for (Index e = 0; e < entry.size(); ++e) {
        Index k = entry[e], j = of.child[k], p = of.parent[k];
        Index low = codes[j], high = codes[j] + 1;
        if (low < 0) {
            low = 0;
            high = levels[j];
        }
        Index width = 1, low_p = 0, high_p = 1;
        if (p >= 0) {
            width = levels[p];
            low_p = std::max<Index>(codes[p], 0);
            high_p = codes[p] < 0 ? width : codes[p] + 1;
        }
        for (Index m = low_p; m < high_p; ++m) {
            auto known_below = [&](Index x) {
                return of.log_table(of.start[k] + x * width + m, y) + belief(e, x);
            };
            double message = known_below(low);
            for (Index x = low + 1; x < high; ++x)
                message = log_add(message, known_below(x));
            if (p >= 0)
                belief(above[e], m) += message;
            else
                total += message;
        }
    }
    return total;
}

// Logs to what they are logs of, scaled to the sum 1.
void to_shares(View<double, 1> log_share) {
    double top = *std::max_element(log_share.begin(), log_share.end());
    for (double& x : log_share) x = std::exp(x - top);
    double total = sum(log_share);
    for (double& x : log_share) x /= total;
}

// Class probabilities of rows, averaged over graphs, and their standard errors: those
// of means over batches of graphs that follow one another.
//
// codes : levels of the features in the rows, -1 where they are not known
// log_class : log probability of every class
// levels : number of levels of every feature
std::tuple<Matrix<double>, Matrix<double>> average_probabilities(
    View<const Index, 2> codes, View<const double, 1> log_class,
    View<const Index, 1> levels, Conditionals of, Graphs graphs, Index n_batches) {
    Index n = codes.size(0), n_classes = log_class.size();
    Index n_graphs = graphs.start.size() - 1, n_draws = graphs.draws.size();
    Matrix<double> probability({n, n_classes}), error({n, n_classes}, not_a_number);
    Matrix<double> value({of.child.size(), n_classes});
    Matrix<double> each({n_graphs, n_classes}), batch({n_batches, n_classes});
    Vector<double> batch_size(n_batches);
    for (Index i = 0; i < n_draws; ++i) batch_size[i * n_batches / n_draws] += 1.0;
    Index most = 0, most_levels = 1;
    for (Index g = 0; g < n_graphs; ++g)
        most = std::max(most, graphs.start[g + 1] - graphs.start[g]);
    for (Index v : levels) most_levels = std::max(most_levels, v);
    Matrix<double> belief({most, most_levels});
    for (Index row = 0; row < n; ++row) {
        View<const Index, 1> code = codes[row];
        bool complete = std::ranges::all_of(code, [](Index x) { return x >= 0; });
        for (Index k = 0; complete && k < of.child.size(); ++k) {
            Index x = code[of.child[k]], p = of.parent[k];
            Index cell = of.start[k] + (p < 0 ? x : x * levels[p] + code[p]);
            std::ranges::copy(of.log_table[cell], value[k].begin());
        }
        for (Index g = 0; g < n_graphs; ++g) {
            View<double, 1> own = each[g];
            View<const Index, 1> entry =
                graphs.entry.part(graphs.start[g], graphs.start[g + 1]);
            View<const Index, 1> above =
                graphs.above.part(graphs.start[g], graphs.start[g + 1]);
            for (Index y = 0; y < n_classes; ++y) {
                own[y] = log_class[y];
                if (!complete)
                    own[y] += log_of_class(code, y, levels, of, entry, above, belief);
            }
            if (complete)
                for (Index k : entry)
                    for (Index y = 0; y < n_classes; ++y) own[y] += value(k, y);
            to_shares(own);
        }
        batch.fill(0.0);
        for (Index i = 0; i < n_draws; ++i)
            for (Index y = 0; y < n_classes; ++y)
                batch(i * n_batches / n_draws, y) += each(graphs.draws[i], y);
        for (Index y = 0; y < n_classes; ++y) {
            double total = 0.0;
            for (Index b = 0; b < n_batches; ++b) total += batch(b, y);
            double mean = probability(row, y) = total / double(n_draws);
            if (n_batches == 1) continue;
            total = 0.0;
            for (Index b = 0; b < n_batches; ++b) {
                double gap = batch(b, y) / batch_size[b] - mean;
                total += gap * gap;
            }
            error(row, y) = std::sqrt(total / double(n_batches * (n_batches - 1)));
        }
    }
    return {std::move(probability), std::move(error)};
}

}  // namespace

void clearwood::sbfc::add_prediction(nb::module_& module) {
    add_kernel(module, "average_probabilities", &average_probabilities);
}
