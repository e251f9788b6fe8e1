// Lists of boxes: what lines cost, and the best move of one box.
#include "../_loss.hpp"

using namespace clearwood;
using namespace clearwood::search;

namespace {

// Most rounds over the sides and the value of one box.
constexpr int MOST_TURNS = 20;

// Most classes that a box is tried with.
constexpr Index MOST_CLASSES = 3;

// Nothing changes unless the cost falls by more than this.
constexpr double SMALLEST_CHANGE = 1e-9;

struct Loss {
    LossForm form;
    View<const double, 2> scores;  // (n_rows, n_scores), times the share of each row
    View<const double, 1> shares;

    auto fields() { return std::tie(form, scores, shares); }
};

struct Penalties {
    double literal, overlap;

    auto fields() { return std::tie(literal, overlap); }
};

// What a list is fitted to: Python's ListProblem.
template <typename Bin>
struct ListProblem {
    Grid<Bin> grid;
    View<const bool, 1> seen;  // bins that hold rows
    Loss loss;
    Penalties penalties;
    View<const double, 1> counts;  // how much each row counts towards `min_samples_leaf`
    double min_samples_leaf;
    // Per feature; all 0 where the list need not rise or fall anywhere.
    View<const Index, 1> signs;

    auto fields() {
        return std::tie(grid, seen, loss, penalties, counts, min_samples_leaf, signs);
    }
};

// The boxes of a list, what is known of them, and what each line predicts.
struct Lines {
    View<bool, 2> boxes;   // (n_boxes, total number of bins)
    View<bool, 2> member;  // (n_boxes, n_rows)
    View<Index, 1> literals;
    View<double, 2> predicted;  // (n_boxes + 1, n_scores), `otherwise` at the end

    auto fields() { return std::tie(boxes, member, literals, predicted); }
};

// Sums of the scores and shares of the rows that each line decides; and the share of
// rows times the number of further boxes that they are in.
std::tuple<Matrix<double>, Vector<double>, double> sums_of_lines(
    View<const bool, 2> member, View<const double, 2> scores,
    View<const double, 1> shares) {
    Index n_boxes = member.size(0), n_rows = member.size(1), n_scores = scores.size(1);
    Vector<std::int32_t> first(n_rows, std::int32_t(n_boxes)), times(n_rows);
    for (Index j = n_boxes - 1; j >= 0; --j) {
        auto row = as_bytes(member[j]);
        for (Index i = 0; i < n_rows; ++i) {
            first[i] = row[i] ? std::int32_t(j) : first[i];
            times[i] += row[i];
        }
    }
    Matrix<double> sums({n_boxes + 1, n_scores});
    Vector<double> share(n_boxes + 1);
    double further = 0.0;
    for (Index i = 0; i < n_rows; ++i) {
        share[first[i]] += shares[i];
        for (Index s = 0; s < n_scores; ++s) sums(first[i], s) += scores(i, s);
        if (times[i] > 1) further += shares[i] * (times[i] - 1);
    }
    return {std::move(sums), std::move(share), further};
}

// What all lines cost together, but for the constant; from sums of their rows.
double loss_of_lines(const LossForm& form, View<const double, 2> sums,
                     View<const double, 1> share, View<const double, 2> predicted) {
    Vector<double> factors(predicted.size(1));
    double total = 0.0;
    for (Index line = 0; line < predicted.size(0); ++line) {
        total += share[line] * factors_of(form, predicted[line], factors);
        double gained = 0.0;
        for (Index s = 0; s < factors.size(); ++s) gained += sums(line, s) * factors[s];
        total -= gained;
    }
    return total;
}

// 1 where the box has to top all behind it, -1 where it has to stay below, or 0.
template <typename Bin>
int kind_of_box(const Grid<Bin>& grid, View<const Index, 1> signs,
                View<const bool, 1> box) {
    for (Index d = 0; d < signs.size(); ++d) {
        if (signs[d] == 0) continue;
        auto values = box.part(grid.start[d], grid.start[d] + grid.n_bins[d] - 1);
        Index n = std::count(values.begin(), values.end(), true);
        if (n == 0 || n == values.size()) continue;
        return int(values[0] ? -signs[d] : signs[d]);
    }
    return 0;
}

// Take from a box the bounds that it may not have.
template <typename Bin>
void open_box(const Grid<Bin>& grid, View<const Index, 1> signs, View<bool, 1> box,
              View<const bool, 2> bounds) {
    for (Index d = 0; d < signs.size(); ++d) {
        if (signs[d] == 0) continue;
        auto values = box.part(grid.start[d], grid.start[d] + grid.n_bins[d] - 1);
        Index low = 0, high = values.size() - 1;
        while (low <= high && !values[low]) ++low;
        if (low > high) continue;
        while (!values[high]) --high;
        if (!bounds(0, d)) values.part(0, low).fill(true);
        if (!bounds(1, d)) values.part(high, values.size()).fill(true);
    }
}

struct Range {
    double low = -infinity, high = infinity;

    bool holds(double value) const { return low <= value && value <= high; }
    double nearest(double value) const { return std::min(std::max(value, low), high); }
};

// The least and the largest value that line k may predict if its box is of kind -1, 0
// or 1.
std::array<Range, 3> ranges_of(View<const double, 2> predicted,
                               const Vector<int>& kinds, Index k) {
    Range between;
    double least = infinity, most = -infinity;
    for (Index j = 0; j < predicted.size(0); ++j) {
        double level = predicted(j, 0);
        if (j > k) {
            least = std::min(least, level);
            most = std::max(most, level);
        } else if (j < k && kinds[j] == -1) {
            between.low = std::max(between.low, level);
        } else if (j < k && kinds[j] == 1) {
            between.high = std::min(between.high, level);
        }
    }
    return {Range{between.low, std::min(between.high, least)}, between,
            Range{std::max(between.low, most), between.high}};
}

// Write which bounds box k may have on each feature if it predicts a level.
void bounds_for(View<const Index, 1> signs, View<const double, 2> predicted,
                Index k, double level, View<bool, 2> bounds) {
    bool tops = true, stays_below = true;
    for (Index j = k + 1; j < predicted.size(0); ++j) {
        double behind = predicted(j, 0);
        tops &= level >= behind;
        stays_below &= level <= behind;
    }
    int of_kind = tops ? 1 : (stays_below ? -1 : 0);
    for (Index d = 0; d < signs.size(); ++d) {
        bounds(0, d) = signs[d] == 0 || signs[d] == of_kind;
        bounds(1, d) = signs[d] == 0 || signs[d] == -of_kind;
    }
}

// What is predicted for rows, and costs them, without box k.
struct Others {
    Vector<std::int32_t> line;  // of each row: the line that decides it
    Vector<double> extra;       // of each row: what joining box k costs in overlap
    Matrix<double> factors;     // of each line, and
    Vector<double> offsets;     // of each line: of what it predicts
};

Others others_than(const Loss& loss, double overlap, const Lines& lines, Index k) {
    Index n_boxes = lines.member.size(0), n_rows = lines.member.size(1);
    Others others{Vector<std::int32_t>(n_rows, std::int32_t(n_boxes)),
                  Vector<double>::empty({n_rows}),
                  Matrix<double>(lines.predicted.shape()), Vector<double>(n_boxes + 1)};
    View<std::int32_t, 1> line = others.line;
    for (Index j = n_boxes - 1; j >= 0; --j) {
        if (j == k) continue;
        auto row = as_bytes(lines.member[j]);
        for (Index i = 0; i < n_rows; ++i) line[i] = row[i] ? std::int32_t(j) : line[i];
    }
    for (Index i = 0; i < n_rows; ++i)
        others.extra[i] = overlap * loss.shares[i] * double(line[i] < n_boxes);
    for (Index j = 0; j <= n_boxes; ++j)
        others.offsets[j] =
            factors_of(loss.form, lines.predicted[j], others.factors[j]);
    return others;
}

// Write what every row costs if it joins box k, which predicts what has this offset and
// these factors, against what it costs now. Rows that an earlier line decides cost
// what overlap costs, and no more.
void cost_of_rows(const Loss& loss, const Others& others, Index k, double offset,
                  View<const double, 1> factors, View<double, 1> cost) {
    Matrix<double> apart(others.factors.shape());
    for (Index j = 0; j < apart.size(0); ++j)
        for (Index s = 0; s < apart.size(1); ++s)
            apart(j, s) = factors[s] - others.factors(j, s);
    auto write = [&](auto n_scores) {
        for (Index i = 0; i < cost.size(); ++i) {
            cost[i] = others.extra[i];
            Index decides = others.line[i];
            if (decides <= k) continue;
            cost[i] += loss.shares[i] * (offset - others.offsets[decides]);
            const double* scores = loss.scores.data() + i * n_scores;
            cost[i] -= dot_product_of(scores, apart[decides].data(), n_scores);
        }
    };
    with_number(apart.size(1), write);
}

// What box k predicts, and of classes those with most to win; one per line.
Matrix<double> predictions_to_try(const Loss& loss, const Others& others,
                                  View<const double, 2> predicted, Index k) {
    if (loss.form.kind != REGRET) return copy_of(predicted.part(k, k + 1));
    Index n_classes = loss.scores.size(1);
    Vector<double> won(n_classes);
    for (Index i = 0; i < loss.shares.size(); ++i) {
        Index decides = others.line[i];
        if (decides <= k) continue;
        auto scores = loss.scores[i];
        double now = loss.shares[i] * others.offsets[decides] -
                     dot_product(scores, others.factors[decides]);
        for (Index s = 0; s < n_classes; ++s) won[s] += std::min(-scores[s] - now, 0.0);
    }
    Matrix<double> tried({std::min(n_classes, MOST_CLASSES), n_classes});
    Index next = argmax(predicted[k]);
    for (Index n = 0; n < tried.size(0); ++n) {
        tried(n, next) = 1.0;
        won[next] = infinity;
        next = std::min_element(won.begin(), won.end()) - won.begin();
    }
    return tried;
}

// Find better sides and something better to predict for one box; the others stay.
//
// Sides and what is predicted are improved in turns, while the cost falls. Box k and
// what is known of it are changed in place.
template <typename Bin>
void improve_line(const ListProblem<Bin>& problem, const Lines& lines, Index k) {
    const auto& [grid, seen, loss, penalties, counts, min_samples_leaf, signs] = problem;
    Index n_rows = grid.n_rows(), n_scores = lines.predicted.size(1);
    Others others = others_than(loss, penalties.overlap, lines, k);
    auto cost = Vector<double>::empty({n_rows});
    auto counted = Vector<double>::empty({n_rows});
    Vector<double> factors = copy_of(others.factors[k]);
    cost_of_rows(loss, others, k, others.offsets[k], factors, cost);
    double least = penalties.literal * double(lines.literals[k]) - ROUNDING;
    for (Index i = 0; i < n_rows; ++i) {
        counted[i] = counts[i] * double(others.line[i] > k);
        least += number_if(lines.member(k, i), cost[i]);
    }
    bool is_signed = std::any_of(signs.begin(), signs.end(), [](Index s) { return s; });
    Vector<int> kinds(lines.boxes.size(0));
    if (is_signed)
        for (Index j = 0; j < kinds.size(); ++j)
            kinds[j] = kind_of_box<Bin>(grid, signs, lines.boxes[j]);
    auto ranges = ranges_of(lines.predicted, kinds, k);
    Matrix<bool> bounds({2, grid.n_features()}, true);
    BoxProblem<Bin> moves{grid,    seen,     cost,  penalties.literal,
                          counted, min_samples_leaf, bounds};
    auto inside = Vector<bool>::empty({n_rows});
    auto best_inside = copy_of(lines.member[k]);
    Vector<bool> best_box = copy_of(lines.boxes[k]);
    Vector<double> sums(n_scores), best_predicted = copy_of(lines.predicted[k]);
    auto own_rows = Vector<std::uint32_t>::empty({n_rows});
    bool is_better = false;
    auto tried = predictions_to_try(loss, others, lines.predicted, k);
    for (Index t = 0; t < tried.size(0); ++t) {
        auto trial = tried[t];
        if (is_signed && !ranges[1].holds(trial[0])) continue;
        auto box = copy_of(lines.boxes[k]);
        double reached = infinity;
        for (int turn = 0; turn < MOST_TURNS; ++turn) {
            if (is_signed) {
                bounds_for(signs, lines.predicted, k, trial[0], bounds);
                open_box<Bin>(grid, signs, box, bounds);
            }
            if (t > 0 || turn > 0) {  // its value as it is was computed above
                double offset = factors_of(loss.form, trial, factors);
                cost_of_rows(loss, others, k, offset, factors, cost);
            }
            double found = improve_box(moves, box, inside);
            if (found > reached - SMALLEST_CHANGE) break;
            reached = found;
            if (found < least) {
                least = found;
                is_better = true;
                std::copy(box.begin(), box.end(), best_box.begin());
                std::copy(inside.begin(), inside.end(), best_inside.begin());
                std::copy(trial.begin(), trial.end(), best_predicted.begin());
            }
            double share = 0.0;
            sums.fill(0.0);
            Index n_own = 0;  // without a branch, as in list_near
            for (Index i = 0; i < n_rows; ++i) {
                own_rows[n_own] = std::uint32_t(i);
                n_own += inside[i] & (others.line[i] > k);
            }
            for (auto i : own_rows.part(0, n_own)) {
                share += loss.shares[i];
                for (Index s = 0; s < n_scores; ++s) sums[s] += loss.scores(i, s);
            }
            auto before = copy_of(trial);
            predict_best(loss.form, sums, share, trial);
            if (is_signed) {
                int of_kind = kind_of_box<Bin>(grid, signs, box);
                trial[0] = ranges[of_kind + 1].nearest(trial[0]);
            }
            if (std::equal(trial.begin(), trial.end(), before.begin())) break;
        }
    }
    if (!is_better) return;
    std::copy(best_box.begin(), best_box.end(), lines.boxes[k].begin());
    std::copy(best_inside.begin(), best_inside.end(), lines.member[k].begin());
    std::copy(best_predicted.begin(), best_predicted.end(), lines.predicted[k].begin());
    lines.literals[k] = n_literals<Bin>(grid, seen, best_box);
}

template <typename Bin>
void add_for_grids(nb::module_& module) {
    add_kernel(module, "kind_of_box", &kind_of_box<Bin>);
    add_kernel(module, "open_box", &open_box<Bin>);
    add_kernel(module, "improve_line", &improve_line<Bin>);
}

}  // namespace

void add_search_lists(nb::module_& module) {
    add_kernel(module, "sums_of_lines", &sums_of_lines);
    add_kernel(module, "loss_of_lines", &loss_of_lines);
    add_for_grids<std::uint16_t>(module);
    add_for_grids<std::uint32_t>(module);
}
