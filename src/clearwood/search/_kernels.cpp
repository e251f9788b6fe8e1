// Box search: which rows are in a box, and the best box along one feature.
#include "_kernels.hpp"

#include <cstring>

void add_loss(clearwood::nb::module_& module);

namespace clearwood::search {

namespace {

// Most visits of one feature while a box moves.
constexpr Index MOST_ROUNDS = 100;

// Features whose bins are summed in one pass through the rows of a box.
constexpr Index AT_ONCE = 4;

bool all(View<const bool, 1> flags) {
    return !std::memchr(flags.data(), 0, std::size_t(flags.size()));
}

// Where the bins that are allowed, or not, begin and end; -1 if others lie between.
// Only for bins of which some are allowed and some are not.
std::pair<Index, Index> one_stretch(View<const bool, 1> allowed, bool wanted) {
    Index first = -1, last = -1, n = 0;
    for (Index b = 0; b < allowed.size(); ++b) {
        if (allowed[b] != wanted) continue;
        if (first < 0) first = b;
        last = b;
        ++n;
    }
    if (last - first + 1 > n) return {-1, -1};
    return {first, last};
}

// Call a loop over rows with whether a bin is allowed, as 0 or 1.
//
// Nearly all bounds leave one stretch of bins, or leave one out: bins are compared with
// its ends many at a time, which takes a tenth of looking up each.
template <typename Bin, typename Loop>
void with_test(View<const bool, 1> allowed, const Loop& loop) {
    auto [first, last] = one_stretch(allowed, true);
    bool wanted = first >= 0;
    if (!wanted) std::tie(first, last) = one_stretch(allowed, false);
    // Bins below `first` wrap around, so that one comparison does for both ends.
    Bin low = Bin(first), width = Bin(last - first);
    if (first < 0)
        loop([=](Bin b) { return std::uint8_t(allowed[b]); });
    else if (wanted)
        loop([=](Bin b) { return std::uint8_t(Bin(b - low) <= width); });
    else
        loop([=](Bin b) { return std::uint8_t(Bin(b - low) > width); });
}

// Exclude rows whose bin is not allowed.
template <typename Bin>
void keep_allowed(View<const Bin, 1> column, View<const bool, 1> allowed,
                  View<bool, 1> row) {
    std::uint8_t* flags = as_bytes(row);
    const Bin* bins = column.data();
    with_test<Bin>(allowed, [&, n = column.size()](auto is_in) {
        for (Index i = 0; i < n; ++i) flags[i] &= is_in(bins[i]);
    });
}

// Exclude rows that are not in a box.
template <typename Bin>
void keep_inside(const Grid<Bin>& grid, View<const bool, 1> box, View<bool, 1> row) {
    for (Index d = 0; d < grid.n_features(); ++d) {
        auto allowed = grid.part(box, d);
        if (!all(allowed)) keep_allowed(grid.columns[d], allowed, row);
    }
}

// Which rows are in which boxes: (n_boxes, n_rows).
template <typename Bin>
Matrix<bool> contains(const Grid<Bin>& grid, View<const bool, 2> boxes) {
    Matrix<bool> inside({boxes.size(0), grid.n_rows()}, true);
    for (Index k = 0; k < boxes.size(0); ++k) keep_inside(grid, boxes[k], inside[k]);
    return inside;
}

// The same, 64 rows to a number: (n_boxes, n_rows / 64), the first in the lowest bit.
template <typename Bin>
Matrix<std::uint64_t> rows_in_boxes(const Grid<Bin>& grid, View<const bool, 2> boxes) {
    Index n_boxes = boxes.size(0), n_rows = grid.n_rows();
    Matrix<std::uint64_t> bits({n_boxes, (n_rows + 63) / 64});
    Vector<bool> row(n_rows);
    for (Index k = 0; k < n_boxes; ++k) {
        row.fill(true);
        keep_inside(grid, boxes[k], row);
        const bool* flag = row.begin();
        for (std::uint64_t& word : bits[k])
            for (int i = 0; i < 64 && flag < row.end(); ++i)
                word |= std::uint64_t(*flag++) << i;
    }
    return bits;
}

// Sums of columns (n_rows, n_columns) over the rows of each box that each line decides:
// (n_boxes, n_lines, n_columns).
//
// inside : bits of rows_in_boxes; line : (n_rows,)
//
// Row after row, in this order on every machine; BLAS, which takes longer besides, adds
// in another order on each.
Array<double, 3> sums_of_boxes(View<const std::uint64_t, 2> inside,
                               View<const std::int32_t, 1> line, Index n_lines,
                               View<const double, 2> columns) {
    Index n_boxes = inside.size(0);
    Array<double, 3> sums({n_boxes, n_lines, columns.size(1)});
    auto add = [&](auto n_columns) {
        for (Index k = 0; k < n_boxes; ++k) {
            View<double, 2> own = sums[k];
            for (Index word = 0; word < inside.size(1); ++word)
                for (std::uint64_t bits = inside(k, word); bits; bits &= bits - 1) {
                    Index i = 64 * word + std::countr_zero(bits);
                    double* __restrict into = own[line[i]].begin();
                    const double* more = columns[i].begin();
                    for (Index c = 0; c < n_columns; ++c) into[c] += more[c];
                }
        }
    };
    with_number(columns.size(1), add);
    return sums;
}

// Add to numbers of rows whether their bin is allowed, times a sign.
template <typename Bin>
void add_allowed(View<const Bin, 1> column, View<const bool, 1> allowed, int sign,
                 View<Bin, 1> numbers) {
    Bin* into = numbers.data();
    const Bin* bins = column.data();
    with_test<Bin>(allowed, [&, n = column.size()](auto is_in) {
        for (Index i = 0; i < n; ++i) into[i] += Bin(sign * is_in(bins[i]));
    });
}

// How many features' allowed bins each row is outside of. As narrow as bins, so that
// many are counted at a time: no box bounds so many features.
template <typename Bin>
Vector<Bin> count_outside(const Grid<Bin>& grid, View<const bool, 1> box) {
    Vector<Bin> outside(grid.n_rows());
    Bin n_bounded = 0;
    for (Index d = 0; d < grid.n_features(); ++d) {
        auto allowed = grid.part(box, d);
        if (all(allowed)) continue;
        ++n_bounded;
        add_allowed<Bin>(grid.columns[d], allowed, -1, outside);
    }
    for (Bin& number : outside) number += n_bounded;
    return outside;
}

// Literals of boxes.
template <typename Bin>
Vector<Index> literals_of(const Grid<Bin>& grid, View<const bool, 1> seen,
                          View<const bool, 2> boxes) {
    Vector<Index> found(boxes.size(0));
    for (Index k = 0; k < found.size(); ++k)
        found[k] = n_literals<Bin>(grid, seen, boxes[k]);
    return found;
}

// Rows in the box, and those outside of one feature at most; how many of each.
//
// All are written, and counted where they belong: which rows do cannot be predicted,
// and a wrong guess takes longer than a write that is overwritten.
template <typename Bin>
std::pair<Index, Index> list_near(View<const Bin, 1> outside,
                                  View<std::uint32_t, 1> inside_rows,
                                  View<std::uint32_t, 1> near_rows) {
    Index n_inside = 0, n_near = 0;
    for (Index i = 0; i < outside.size(); ++i) {
        near_rows[n_near] = std::uint32_t(i);
        n_near += outside[i] <= 1;
        inside_rows[n_inside] = std::uint32_t(i);
        n_inside += outside[i] == 0;
    }
    return {n_inside, n_near};
}

// Sums of costs over some rows, per bin of a few features, the first of them `d`.
//
// totals : (n, most bins), written for n features
template <typename Bin>
void sum_bins(const Grid<Bin>& grid, Index d, Index n, View<const std::uint32_t, 1> rows,
              View<const double, 1> cost, View<double, 2> totals) {
    std::array<const Bin*, AT_ONCE> columns;
    std::array<double*, AT_ONCE> into;
    for (Index k = 0; k < n; ++k) {
        columns[k] = grid.columns[d + k].begin();
        into[k] = totals[k].begin();
        totals[k].part(0, grid.n_bins[d + k]).fill(0.0);
    }
    with_number(n, [&](auto n_features) {
        for (Index j = 0; j < rows.size(); ++j)
            for (Index k = 0; k < n_features; ++k)
                into[k][columns[k][rows[j]]] += cost[j];
    });
}

// The bins that cost less than nothing; those without rows stay as they are.
void best_categories(View<const double, 1> total, View<const bool, 1> allowed,
                     View<bool, 1> better) {
    for (Index b = 0; b < total.size(); ++b)
        better[b] = total[b] < 0.0 || (total[b] == 0.0 && allowed[b]);
}

// The interval of bins, with or without the last one, that costs least.
//
// The interval is the part of the histogram with the smallest sum: for every upper end,
// the lower end before which the sum was largest, or none. A side costs `bound_cost`
// where bins with rows lie beyond it. The last bin (missing values) is in where it
// costs less than nothing.
//
// Without `may_start` the interval begins with the first bin, without `may_end` it ends
// with the last one that holds values.
void best_interval(View<const double, 1> total, View<const bool, 1> seen,
                   View<const bool, 1> allowed, double bound_cost,
                   View<bool, 1> better, bool may_start, bool may_end) {
    Index last = total.size() - 1, first_seen = 0, last_seen = last - 1;
    while (first_seen < last && !seen[first_seen]) ++first_seen;
    while (last_seen >= 0 && !seen[last_seen]) --last_seen;
    bool with_missing = total[last] < 0.0 || (total[last] == 0.0 && allowed[last]);
    double gained = with_missing ? total[last] : 0.0;
    double best = infinity, upto = 0.0, least = infinity;
    Index low = 0, high = last - 1, least_low = 0;
    bool missing = with_missing;
    // Without a branch: which ends are the best so far cannot be predicted.
    auto try_start = [&](Index b) {
        bool is_less = may_start && b > first_seen && bound_cost - upto < least;
        least = is_less ? bound_cost - upto : least;
        least_low = is_less ? b : least_low;
        upto += total[b];
    };
    auto try_end = [&](double cost, Index first, Index b) {
        Index if_better = -Index(cost + gained < best);  // all bits, or none
        best = std::min(best, cost + gained);
        low += (first - low) & if_better;
        high += (b - high) & if_better;
    };
    for (Index b = 0; b < last_seen; ++b) {
        try_start(b);
        if (may_end)
            try_end(upto + std::min(least, 0.0) + bound_cost,
                    least < 0.0 ? least_low : 0, b);
    }
    if (last_seen >= 0) {  // without any bound, missing values would be in: see above
        try_start(last_seen);
        try_end(upto + least, least_low, last_seen);
    }
    if (high == last_seen) high = last - 1;
    // Everything; all values, but not the missing ones; missing values only.
    double simplest = upto + total[last];
    Index from = 0;
    bool holds_missing = true;
    if (seen[last] && upto + bound_cost < simplest) {
        simplest = upto + bound_cost;
        holds_missing = false;
    }
    if (seen[last] && total[last] + bound_cost < simplest) {
        simplest = total[last] + bound_cost;
        from = last;
        holds_missing = true;
    }
    if (simplest <= best) {
        low = from;
        high = last - 1;
        missing = holds_missing;
    }
    better.fill(false);
    better.part(low, high + 1).fill(true);
    better[last] = missing;
}

// What one feature's part of a box costs: its rows and its literals.
double part_cost(View<const double, 1> total, View<const bool, 1> seen,
                 View<const bool, 1> part, bool is_category, double bound_cost) {
    double cost = bound_cost * double(part_literals(part, seen, is_category));
    for (Index b = 0; b < total.size(); ++b) cost += number_if(part[b], total[b]);
    return cost;
}

}  // namespace

Index part_literals(View<const bool, 1> allowed, View<const bool, 1> seen,
                    bool is_category) {
    if (all(allowed)) return 0;
    Index size = allowed.size(), shut = 0;
    for (Index b = 0; b < size; ++b) shut += seen[b] & !allowed[b];
    if (shut == 0) return 0;
    if (is_category) return 1;
    bool below = false, above = false, inside = false;
    for (Index b = 0; b < size - 1; ++b) {
        if (allowed[b]) {
            inside = true;
        } else if (seen[b]) {
            (inside ? above : below) = true;
        }
    }
    return inside && below && above ? 2 : 1;
}

template <typename Bin>
double improve_box(const BoxProblem<Bin>& problem, View<bool, 1> box,
                   View<bool, 1> inside) {
    const Grid<Bin>& grid = problem.grid;
    auto cost = problem.cost, counts = problem.counts;
    Index n_features = grid.n_features(), n_rows = grid.n_rows();
    auto outside = count_outside<Bin>(grid, box);
    auto inside_rows = Vector<std::uint32_t>::empty({n_rows});
    auto near_rows = Vector<std::uint32_t>::empty({n_rows});
    auto inside_cost = Vector<double>::empty({n_rows});
    Index n_inside, n_near;
    auto list_rows = [&] {
        std::tie(n_inside, n_near) = list_near<Bin>(outside, inside_rows, near_rows);
        for (Index j = 0; j < n_inside; ++j) inside_cost[j] = cost[inside_rows[j]];
    };
    list_rows();
    Matrix<double> totals({AT_ONCE, grid.most_bins()});
    Vector<bool> parts(grid.most_bins());
    Index d = 0, unchanged = 0;
    Index first = 0, end = 0;  // features whose bins are summed for the box as it is
    // The bound on visits only matters where rounding feigns a better cost.
    for (Index visits = 0; unchanged < n_features && visits < MOST_ROUNDS * n_features;
         ++visits, d = (d + 1) % n_features) {
        auto column = grid.columns[d];
        auto allowed = grid.part(box, d);
        auto seen = grid.part(problem.seen, d);
        auto better = parts.part(0, allowed.size());
        bool is_category = grid.is_category[d];
        // A row matters to a feature if it is outside of no other.
        if (all(allowed)) {
            if (d < first || d >= end) {
                first = d;
                end = d + 1;
                while (end < std::min(d + AT_ONCE, n_features) &&
                       all(grid.part(box, end)))
                    ++end;
                sum_bins<Bin>(grid, d, end - d, inside_rows.part(0, n_inside),
                              inside_cost, totals);
            }
        } else {
            first = d;
            end = 0;
            totals[0].fill(0.0);
            double* total = totals[0].begin();
            for (Index j = 0; j < n_near; ++j) {
                auto i = near_rows[j];
                auto b = column[i];
                total[b] += number_if(outside[i] == !allowed[b], cost[i]);
            }
        }
        auto total = totals[d - first].part(0, allowed.size());
        if (is_category) {
            best_categories(total, allowed, better);
            double some = part_cost(total, seen, better, true, problem.literal);
            if (sum(total) <= some) better.fill(true);
        } else {
            best_interval(total, seen, allowed, problem.literal, better,
                          problem.bounds(0, d), problem.bounds(1, d));
        }
        ++unchanged;
        if (std::equal(better.begin(), better.end(), allowed.begin())) continue;
        double now = part_cost(total, seen, allowed, is_category, problem.literal);
        double then = part_cost(total, seen, better, is_category, problem.literal);
        if (!(then < now - ROUNDING)) continue;
        double held = 0.0;
        for (Index j = 0; j < n_near; ++j) {
            auto i = near_rows[j];
            auto b = column[i];
            held += number_if(better[b] & (outside[i] == !allowed[b]), counts[i]);
        }
        if (held < problem.least) continue;
        unchanged = 1;
        end = 0;
        add_allowed<Bin>(column, allowed, 1, outside);
        add_allowed<Bin>(column, better, -1, outside);
        std::copy(better.begin(), better.end(), allowed.begin());
        list_rows();
    }
    double found =
        problem.literal * double(n_literals<Bin>(grid, problem.seen, box));
    for (Index j = 0; j < n_inside; ++j) found += inside_cost[j];
    for (Index i = 0; i < n_rows; ++i) inside[i] = outside[i] == 0;
    return found;
}

template double improve_box(const BoxProblem<std::uint16_t>&, View<bool, 1>,
                            View<bool, 1>);
template double improve_box(const BoxProblem<std::uint32_t>&, View<bool, 1>,
                            View<bool, 1>);

namespace {

template <typename Bin>
void add_for_grids(nb::module_& module) {
    add_kernel(module, "contains", &contains<Bin>);
    add_kernel(module, "rows_in_boxes", &rows_in_boxes<Bin>);
    add_kernel(module, "n_literals", &n_literals<Bin>);
    add_kernel(module, "literals_of", &literals_of<Bin>);
    add_kernel(module, "improve_box", &improve_box<Bin>);
}

}  // namespace

}  // namespace clearwood::search

void add_search(clearwood::nb::module_& module) {
    using namespace clearwood;
    using namespace clearwood::search;
    add_for_grids<std::uint16_t>(module);
    add_for_grids<std::uint32_t>(module);
    add_kernel(module, "dot_product", &dot_product);
    add_kernel(module, "sums_of_boxes", &sums_of_boxes);
    add_kernel(module, "best_categories", &best_categories);
    add_kernel(module, "best_interval", &best_interval);
    add_kernel(module, "part_cost", &part_cost);
    add_loss(module);
}
