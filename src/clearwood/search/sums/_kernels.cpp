// Sums of boxes: rows that are in the same boxes, the best move of one box, and the
// best values of all.
#include <vector>

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

// Boxes by which groups of rows are divided at once.
constexpr Index AT_ONCE = 4;

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
    Vector<std::int32_t> group(n_rows);
    Vector<std::uint8_t> among(n_rows);
    std::vector<Index> first(1);
    for (Index k = 0; k < member.size(0); k += AT_ONCE) {
        Index n = std::min(AT_ONCE, member.size(0) - k);
        among.fill(0);
        for (Index j = 0; j < n; ++j) {
            auto row = as_bytes(member[k + j]);
            for (Index i = 0; i < n_rows; ++i) among[i] |= std::uint8_t(row[i] << j);
        }
        Vector<std::int32_t> number(Index(first.size()) << n, -1);
        first.clear();
        for (Index i = 0; i < n_rows; ++i) {
            std::int32_t& its_number = number[(Index(group[i]) << n) + among[i]];
            if (its_number < 0) {
                its_number = std::int32_t(first.size());
                first.push_back(i);
            }
            group[i] = its_number;
        }
    }
    Vector<Index> places(Index(first.size()));
    std::copy(first.begin(), first.end(), places.begin());
    return {std::move(group), std::move(places)};
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

// The largest score of a group.
double highest_score(View<const double, 2> scores, Index g) {
    double highest = -infinity;
    for (Index c = 0; c < scores.size(0); ++c)
        highest = std::max(highest, scores(c, g));
    return highest;
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

// What Python's SumAscent is fitted to.
template <typename Bin>
struct SumProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;
    bool is_class;                  // else predictions are values
    View<const double, 1> shares;   // of the rows
    View<const double, 2> targets;  // times shares: (n_outputs, n_rows)
    View<const double, 1> counts;
    double literal, ridge;
    double largest;  // most that a value may be
    double least;    // least sum of `counts` in a box

    auto fields() {
        return std::tie(grid, seen, is_class, shares, targets, counts, literal, ridge,
                        largest, least);
    }
};

// The boxes of a sum.
struct Lines {
    View<bool, 2> boxes;   // (n_boxes, total number of bins)
    View<bool, 2> member;  // (n_boxes, n_rows)
    View<Index, 1> literals;
    View<const Index, 1> outputs;
    View<double, 1> values;
    View<const double, 1> constant;

    auto fields() {
        return std::tie(boxes, member, literals, outputs, values, constant);
    }
};

// Rows that are in the same boxes.
struct Groups {
    Vector<std::int32_t> of_row;
    Matrix<bool> member;  // (n_boxes, n_groups)

    explicit Groups(View<const bool, 2> of_rows) : of_row(0), member({0, 0}) {
        auto [group, first] = groups_of(of_rows);
        of_row = std::move(group);
        member = Matrix<bool>({of_rows.size(0), first.size()});
        for (Index k = 0; k < member.size(0); ++k)
            for (Index g = 0; g < first.size(); ++g) member(k, g) = of_rows(k, first[g]);
    }
};

// What is predicted for groups of rows without one of the boxes, if any.
struct Others {
    const Groups& groups;
    Matrix<double> answers;  // (n_outputs, n_groups)
    // Of values, a row costs the square of the value and twice the value (the weights)
    // times two numbers; of classes, one number that depends on the value.
    Vector<double> cost;

    template <typename Bin>
    Others(const SumProblem<Bin>& problem, const Lines& lines, const Groups& groups,
           Index without = -1)
        : groups(groups),
          answers({0, 0}),
          cost(Vector<double>::empty({2 * problem.shares.size()})) {
        Vector<double> values = copy_of(lines.values);
        if (without >= 0) values[without] = 0.0;
        answers = scores_of(lines.constant, values, lines.outputs, groups.member);
        if (problem.is_class) write_probabilities(answers);
        for (Index i = 0; !problem.is_class && i < problem.shares.size(); ++i) {
            double share = problem.shares[i];
            cost[2 * i] = share;
            cost[2 * i + 1] =
                share * answers(0, groups.of_row[i]) - problem.targets(0, i);
        }
    }
};

// Where moves of some boxes have led: after each turn, the output and the box.
using Reached = std::vector<std::pair<Index, Vector<bool>>>;

// Find better sides and a better value for one box of a sum; the others stay. Sides and
// value are improved in turns, while the cost falls.
//
// box, inside : the box and the rows in it; changed in place
// n_literals : of the box
// reached : where moves of other boxes have led
//
// Returns the value, what the box costs, infinity if it becomes one that was reached,
// and whether its sides have moved.
template <typename Bin, int N>
std::tuple<double, double, bool> move_term(const SumProblem<Bin>& problem,
                                           Others& others, View<bool, 1> box,
                                           View<bool, 1> inside, Index n_literals,
                                           Index output, double value,
                                           Reached& reached) {
    auto& [grid, seen, is_class, shares, all_targets, counts, literal, ridge, largest,
           least_rows] = problem;
    auto answers = others.answers[output], targets = all_targets[output];
    View<const std::int32_t, 1> group = others.groups.of_row;
    View<double, 1> cost = others.cost;
    Index n_rows = shares.size(), n_groups = answers.size(), n_others = reached.size();
    Vector<double> change(n_groups), share(n_groups);
    Matrix<bool> bounds({2, grid.n_features()}, true);
    BoxProblem<Bin> of_box{grid, seen, cost, literal, counts, least_rows, bounds};
    Vector<bool> now = copy_of(box);
    BoxMoves<Bin, N> moves(of_box, now);
    double least = infinity, best = value, last = infinity;
    bool has_moved = false;
    for (int turn = 0; turn < MOST_TURNS; ++turn) {
        std::array<double, N> weights;
        if constexpr (N == 2) {
            weights = {value * value, 2.0 * value};
        } else {
            double per_target = changes(is_class, answers, value, change);
            for (Index i = 0; i < n_rows; ++i)
                cost[i] = shares[i] * change[group[i]] - per_target * targets[i];
            moves.forget_costs();
            weights = {1.0};
        }
        double of_value = 0.5 * ridge * value * value;
        if (turn == 0)
            least = moves.cost(weights, of_value + literal * double(n_literals));
        double found = of_value + moves.improve(weights);
        if (found > last - SMALLEST_CHANGE) break;
        last = found;
        if (found < least - ROUNDING) {
            least = found;
            best = value;
            has_moved |= !std::equal(now.begin(), now.end(), box.begin());
            std::copy(now.begin(), now.end(), box.begin());
            moves.write_inside(inside);
        }
        auto is_now = [&](const auto& one) {
            return one.first == output &&
                   std::equal(now.begin(), now.end(), one.second.begin());
        };
        // The value is that which was found to be the best of this very box.
        if (turn > 0 && is_now(reached.back())) break;
        if (std::any_of(reached.begin(), reached.begin() + n_others, is_now))
            return {best, infinity, has_moved};
        reached.emplace_back(output, copy_of(now));
        share.fill(0.0);
        double target = 0.0;
        for (Index i : moves.rows()) {
            share[group[i]] += shares[i];
            target += targets[i];
        }
        double better =
            best_term(is_class, answers, share, target, ridge, largest, value);
        if (better == value) break;
        value = better;
    }
    return {best, least, has_moved};
}

template <typename Bin>
auto improve_term(const SumProblem<Bin>& problem, Others& others, View<bool, 1> box,
                  View<bool, 1> inside, Index n_literals, Index output, double value,
                  Reached& reached) {
    auto move = problem.is_class ? move_term<Bin, 1> : move_term<Bin, 2>;
    return move(problem, others, box, inside, n_literals, output, value, reached);
}

// Improve boxes `first` to `last` in turn; whether any sides have moved.
template <typename Bin>
bool improve_boxes(const SumProblem<Bin>& problem, const Lines& lines, Index first,
                   Index last) {
    auto& [boxes, member, literals, outputs, values, constant] = lines;
    bool any = false, has_moved;
    Groups groups(member);
    for (Index k = first; k < last; ++k) {
        Others others(problem, lines, groups, k);
        Reached reached;
        std::tie(values[k], std::ignore, has_moved) =
            improve_term(problem, others, boxes[k], member[k], literals[k], outputs[k],
                         values[k], reached);
        if (!has_moved) continue;
        any = true;
        groups = Groups(member);
        literals[k] = n_literals<Bin>(problem.grid, problem.seen, boxes[k]);
    }
    return any;
}

// Improve each of some further boxes, as if it were the only one. Boxes, the rows
// `inside` of them and values are changed in place.
//
// Returns what each costs; infinity if it becomes the same as one before it.
template <typename Bin>
Vector<double> improve_candidates(const SumProblem<Bin>& problem, const Lines& lines,
                                  View<bool, 2> boxes, View<bool, 2> inside,
                                  View<const Index, 1> literals,
                                  View<const Index, 1> outputs, View<double, 1> values) {
    Groups groups(lines.member);
    Others others(problem, lines, groups);
    Vector<double> cost(values.size());
    Reached reached;
    for (Index k = 0; k < values.size(); ++k)
        std::tie(values[k], cost[k], std::ignore) =
            improve_term(problem, others, boxes[k], inside[k], literals[k], outputs[k],
                         values[k], reached);
    return cost;
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

template <typename Bin>
void add_for_grids(nb::module_& module) {
    add_kernel(module, "improve_boxes", &improve_boxes<Bin>);
    add_kernel(module, "improve_candidates", &improve_candidates<Bin>);
}

}  // namespace

void add_search_sums(nb::module_& module) {
    add_kernel(module, "groups_of", &groups_of);
    add_kernel(module, "scores_of", &scores_of);
    add_kernel(module, "sums_of_groups", &sums_of_groups);
    add_kernel(module, "changes", &changes);
    add_kernel(module, "best_term", &best_term);
    add_for_grids<std::uint16_t>(module);
    add_for_grids<std::uint32_t>(module);
    add_kernel(module, "slopes_of_sum", &slopes_of_sum);
    add_kernel(module, "best_factors", &best_factors);
}
