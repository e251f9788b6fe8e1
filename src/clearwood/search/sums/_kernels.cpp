// Sums of boxes: rows that are in the same boxes, the best move of one box, and the
// best values of all.
#include "../../_numeric/_kernels.hpp"
#include "../_kernels.hpp"

using namespace clearwood;
using namespace clearwood::search;

namespace {

// Most rounds over the sides and the value of one box.
constexpr int MOST_TURNS = 20;

// Most steps to the best value.
constexpr int MOST_NEWTON_STEPS = 50;

// Nothing changes unless the cost falls by more than this.
constexpr double SMALLEST_CHANGE = 1e-9;

// Newton's steps are halved down to this.
constexpr double SMALLEST_STEP = 1e-6;

// Newton's method ends when no factor has a steeper slope.
constexpr double SMALLEST_SLOPE = 1e-9;

// Newton's method ends when the objective falls by less.
constexpr double SMALLEST_GAIN = 1e-12;

// Rows that are in the same boxes: the group of each row, and the first row of each
// group. Groups are numbered in the order in which they appear.
//
// member : (n_boxes, n_rows)
std::tuple<Vector<std::int32_t>, Vector<Index>> groups_of(View<const bool, 2> member) {
    Index n_rows = member.size(1);
    std::int32_t n_groups = 1;
    Vector<std::int32_t> group(n_rows);
    for (Index k = 0; k < member.size(0); ++k) {
        Vector<std::int32_t> number(2 * Index(n_groups), -1);
        n_groups = 0;
        for (Index i = 0; i < n_rows; ++i) {
            std::int32_t& its_number = number[2 * Index(group[i]) + member(k, i)];
            if (its_number < 0) its_number = n_groups++;
            group[i] = its_number;
        }
    }
    Vector<Index> first(n_groups);
    for (Index i = n_rows - 1; i >= 0; --i) first[group[i]] = i;
    return {std::move(group), std::move(first)};
}

// Constants, and what boxes add to outputs of the rows in them: (n_outputs, n_rows).
Matrix<double> scores_of(View<const double, 1> constant, View<const double, 1> values,
                         View<const Index, 1> outputs, View<const bool, 2> member) {
    Matrix<double> scores({constant.size(), member.size(1)});
    for (Index c = 0; c < constant.size(); ++c) scores[c].fill(constant[c]);
    for (Index k = 0; k < values.size(); ++k) {
        double* into = scores[outputs[k]].begin();
        const bool* row = member[k].begin();
        for (Index i = 0; i < member.size(1); ++i) into[i] += values[k] * row[i];
    }
    return scores;
}

// Sums of numbers (n_lines, n_rows) times shares over the rows of each group.
Matrix<double> sums_of_groups(View<const std::int32_t, 1> group, Index n_groups,
                              View<const double, 2> numbers,
                              View<const double, 1> share) {
    Matrix<double> sums({numbers.size(0), n_groups});
    for (Index k = 0; k < numbers.size(0); ++k)
        for (Index i = 0; i < group.size(); ++i)
            sums(k, group[i]) += numbers(k, i) * share[i];
    return sums;
}

// Write what adding a value costs rows of share 1 whose target is 0, by group. The
// target of a row takes from it, times what is returned.
double changes(bool is_class, View<const double, 1> answers, double value,
               View<double, 1> change) {
    double factor = std::expm1(value);
    for (Index g = 0; g < answers.size(); ++g)
        change[g] = is_class ? std::log1p(answers[g] * factor)
                             : value * (value + 2.0 * answers[g]);
    return is_class ? value : 2.0 * value;
}

// The value that costs least if it is added to the scores of some rows. Squares have it
// in one step. Else Newton's method on one convex function, with the interval halved
// where a step leaves it or crosses more than half of it.
//
// is_class : whether answers are probabilities of a class; else they are values
// answers, share : (n_groups,), what is predicted without the value, and the shares of
//     the rows
// target : sum of the targets times shares
// ridge : penalty on half the square of the value
// largest : most that it may be
// start : where to begin
double best_term(bool is_class, View<const double, 1> answers,
                 View<const double, 1> share, double target, double ridge,
                 double largest, double start) {
    if (!is_class) {
        double predicted = 0.0;
        for (Index g = 0; g < share.size(); ++g) predicted += share[g] * answers[g];
        return 2.0 * (target - predicted) / (2.0 * sum(share) + ridge);
    }
    double low = -largest, high = largest, value = start;
    for (int i = 0; i < MOST_NEWTON_STEPS; ++i) {
        double slope = ridge * value - target, curvature = ridge;
        double grown = std::exp(value);
        for (Index g = 0; g < share.size(); ++g) {
            if (share[g] <= 0.0) continue;
            double odds = answers[g] * grown;
            double then = odds / (1.0 - answers[g] + odds);
            slope += share[g] * then;
            curvature += share[g] * then * (1.0 - then);
        }
        (slope < 0.0 ? low : high) = value;
        double step = value - slope / std::max(curvature, 1e-300);
        // Longer steps can lead from one side of the valley to the other for ever.
        if (!(low <= step && step <= high &&
              std::abs(step - value) <= 0.5 * (high - low)))
            step = 0.5 * (low + high);
        double moved = std::abs(step - value);
        value = step;
        if (moved <= 1e-10 * std::max(1.0, std::abs(step))) break;
    }
    return value;
}

// Python's TermProblem, which says what its fields mean.
template <typename Bin>
struct TermProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;
    bool is_class;
    View<const std::int32_t, 1> group;
    View<const double, 1> answers, shares, targets, counts;
    double literal, ridge, largest, least;

    auto fields() {
        return std::tie(grid, seen, is_class, group, answers, shares, targets, counts,
                        literal, ridge, largest, least);
    }
};

// Find better sides and a better value for one box of a sum; the others stay. Sides and
// value are improved in turns, while the cost falls.
//
// box, inside : the box and the rows in it; changed in place
// n_literals : of the box
//
// Returns the value, what the box costs, and whether either has changed.
template <typename Bin>
std::tuple<double, double, bool> improve_term(const TermProblem<Bin>& problem,
                                              View<bool, 1> box, View<bool, 1> inside,
                                              Index n_literals, double value) {
    auto& [grid, seen, is_class, group, answers, shares, targets, counts, literal,
           ridge, largest, least_rows] = problem;
    Index n_rows = shares.size(), n_groups = answers.size();
    auto cost = Vector<double>::empty({n_rows});
    auto own_rows = Vector<std::uint32_t>::empty({n_rows});
    Vector<double> change(n_groups), share(n_groups);
    Matrix<bool> bounds({2, grid.n_features()}, true);
    BoxProblem<Bin> of_box{grid, seen, cost, literal, counts, least_rows, bounds};
    Vector<bool> there = copy_of(inside), now = copy_of(box);
    double least = infinity, best = value, reached = infinity;
    bool is_better = false;
    for (int turn = 0; turn < MOST_TURNS; ++turn) {
        double per_target = changes(is_class, answers, value, change);
        for (Index i = 0; i < n_rows; ++i)
            cost[i] = shares[i] * change[group[i]] - per_target * targets[i];
        double of_value = 0.5 * ridge * value * value;
        if (turn == 0) {
            least = of_value + literal * double(n_literals);
            for (Index i = 0; i < n_rows; ++i) least += number_if(inside[i], cost[i]);
        }
        Vector<bool> moved = copy_of(now);
        double found = of_value + improve_box(of_box, moved, there);
        if (found > reached - SMALLEST_CHANGE) break;
        // The value is that which was found to be the best of this very box.
        bool is_settled = turn > 0 && std::equal(moved.begin(), moved.end(), now.begin());
        now = std::move(moved);
        reached = found;
        if (found < least - ROUNDING) {
            least = found;
            best = value;
            is_better = true;
            std::copy(now.begin(), now.end(), box.begin());
            std::copy(there.begin(), there.end(), inside.begin());
        }
        if (is_settled) break;
        share.fill(0.0);
        double target = 0.0;
        Index n_own = 0;  // without a branch, as in list_near
        for (Index i = 0; i < n_rows; ++i) {
            own_rows[n_own] = std::uint32_t(i);
            n_own += there[i];
        }
        for (auto i : own_rows.part(0, n_own)) {
            share[group[i]] += shares[i];
            target += targets[i];
        }
        double better =
            best_term(is_class, answers, share, target, ridge, largest, value);
        if (better == value) break;
        value = better;
    }
    return {best, least, is_better};
}

// Python's SumDesign: constants and boxes, each a line of groups with a factor.
struct SumDesign {
    bool is_class;
    View<const double, 2> target;  // (n_outputs, n_groups)
    View<const double, 1> share;   // (n_groups,)
    View<const bool, 2> lines;     // (n_lines, n_groups)
    View<const Index, 1> outputs;  // the output to which each line adds
    View<const double, 1> ridge;   // penalty on half the square of each factor

    auto fields() { return std::tie(is_class, target, share, lines, outputs, ridge); }

    Index n_lines() const { return lines.size(0); }
    Index n_groups() const { return lines.size(1); }
};

// Write the sums of all groups of rows: (n_outputs, n_groups).
void write_scores(const SumDesign& design, View<const double, 1> factors,
                  View<double, 2> scores) {
    scores.fill(0.0);
    for (Index k = 0; k < design.n_lines(); ++k)
        for (Index g = 0; g < design.n_groups(); ++g)
            if (design.lines(k, g)) scores(design.outputs[k], g) += factors[k];
}

// The largest score of a group.
double highest_score(View<const double, 2> scores, Index g) {
    double highest = -infinity;
    for (Index c = 0; c < scores.size(0); ++c)
        highest = std::max(highest, scores(c, g));
    return highest;
}

// Loss of scores, see SquaredSumLoss and ClassSumLoss, and ridge of factors.
double cost_of(const SumDesign& design, View<const double, 1> factors,
               View<const double, 2> scores) {
    const auto& [is_class, target, share, lines, outputs, ridge] = design;
    double cost = 0.0, penalty = 0.0;
    for (Index g = 0; g < design.n_groups(); ++g) {
        if (!is_class) {
            double away = target(0, g) - scores(0, g);
            cost += share[g] * (away * away);
            continue;
        }
        double highest = highest_score(scores, g), total = 0.0, agreement = 0.0;
        for (Index c = 0; c < scores.size(0); ++c) {
            total += std::exp(scores(c, g) - highest);
            agreement += target(c, g) * scores(c, g);
        }
        cost += share[g] * (highest + std::log(total) - agreement);
    }
    for (Index k = 0; k < design.n_lines(); ++k)
        penalty += ridge[k] * factors[k] * factors[k];
    return cost + 0.5 * penalty;
}

// Turn scores of classes into their probabilities, in place.
void write_probabilities(View<double, 2> scores) {
    Index n_classes = scores.size(0);
    for (Index g = 0; g < scores.size(1); ++g) {
        double highest = highest_score(scores, g), total = 0.0;
        for (Index c = 0; c < n_classes; ++c) {
            scores(c, g) = std::exp(scores(c, g) - highest);
            total += scores(c, g);
        }
        for (Index c = 0; c < n_classes; ++c) scores(c, g) /= total;
    }
}

// Both derivatives of the cost by the factors.
//
// answers : (n_outputs, n_groups), what is predicted: values, or class probabilities
std::tuple<Vector<double>, Matrix<double>> slopes_of_sum(
    const SumDesign& design, View<const double, 1> factors,
    View<const double, 2> answers) {
    const auto& [is_class, target, share, lines, outputs, ridge] = design;
    Index n_lines = design.n_lines(), n_groups = design.n_groups();
    Vector<double> slope(n_lines);
    Matrix<double> curvature({n_lines, n_lines});
    for (Index k = 0; k < n_lines; ++k) {
        slope[k] = ridge[k] * factors[k];
        Index c = outputs[k];
        for (Index g = 0; g < n_groups; ++g) {
            if (!lines(k, g)) continue;
            double away = answers(c, g) - target(c, g);
            slope[k] += share[g] * (is_class ? away : 2.0 * away);
        }
        for (Index m = 0; m <= k; ++m) {
            Index other = outputs[m];
            double total = 0.0;
            for (Index g = 0; g < n_groups; ++g) {
                if (!(lines(k, g) && lines(m, g))) continue;
                double p = answers(c, g), same = other == c ? p : 0.0;
                total += is_class ? share[g] * (same - p * answers(other, g))
                                  : 2.0 * share[g];
            }
            curvature(k, m) = curvature(m, k) = m == k ? ridge[k] + total : total;
        }
    }
    return {std::move(slope), std::move(curvature)};
}

double largest_size(View<const double, 1> values) {
    double largest = 0.0;
    for (double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

// The factors of constants and boxes that cost least together. Newton's method, with
// steps halved until the cost falls; for squares one step.
//
// factors : (n_lines,), where to begin; changed in place
void best_factors(const SumDesign& design, View<double, 1> factors) {
    Matrix<double> scores(design.target.shape());
    Vector<double> tried = copy_of(factors);
    write_scores(design, factors, scores);
    double now = cost_of(design, factors, scores);
    for (int i = 0; i < MOST_NEWTON_STEPS; ++i) {
        if (design.is_class) write_probabilities(scores);
        auto [slope, curvature] = slopes_of_sum(design, factors, scores);
        if (largest_size(slope) < SMALLEST_SLOPE) break;
        View<const double, 2> side(slope.data(), {1, slope.size()});
        Matrix<double> solved = solve_positive(curvature, side);
        View<double, 1> step = solved[0];
        double then;
        while (true) {
            std::transform(factors.begin(), factors.end(), step.begin(), tried.begin(),
                           std::minus<double>());
            write_scores(design, tried, scores);
            then = cost_of(design, tried, scores);
            if (!(then > now) || largest_size(step) <= SMALLEST_STEP) break;
            for (double& part : step) part /= 2.0;
        }
        if (then >= now) break;
        double gained = now - then;
        now = then;
        std::copy(tried.begin(), tried.end(), factors.begin());
        if (gained <= SMALLEST_GAIN) break;
    }
}

}  // namespace

void add_search_sums(nb::module_& module) {
    add_kernel(module, "groups_of", &groups_of);
    add_kernel(module, "scores_of", &scores_of);
    add_kernel(module, "sums_of_groups", &sums_of_groups);
    add_kernel(module, "changes", &changes);
    add_kernel(module, "best_term", &best_term);
    add_kernel(module, "improve_term", &improve_term<std::uint16_t>);
    add_kernel(module, "improve_term", &improve_term<std::uint32_t>);
    add_kernel(module, "slopes_of_sum", &slopes_of_sum);
    add_kernel(module, "best_factors", &best_factors);
}
