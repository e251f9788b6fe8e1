// Box search: which rows are in a box, and the best box along one feature.
#include "_kernels.hpp"

#include <cstring>

void add_loss(clearwood::nb::module_& module);

namespace clearwood::search {

namespace {

// Most visits of one feature while a box moves.
constexpr Index MOST_ROUNDS = 100;

// Features whose bins are summed in one pass through the rows of a box.
constexpr Index AT_ONCE = 5;

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
    // A product whose highest byte has the lowest bit of each byte.
    constexpr bool is_little = std::endian::native == std::endian::little;
    constexpr std::uint64_t gather = is_little ? 0x0102040810204080 : 0x8040201008040201;
    Index n_boxes = boxes.size(0), n_rows = grid.n_rows(), n_words = (n_rows + 63) / 64;
    Matrix<std::uint64_t> bits({n_boxes, n_words});
    Vector<bool> row(64 * n_words);
    for (Index k = 0; k < n_boxes; ++k) {
        row.part(0, n_rows).fill(true);
        keep_inside(grid, boxes[k], row.part(0, n_rows));
        for (Index i = 0; i < n_rows; i += 8) {
            std::uint64_t flags;
            std::memcpy(&flags, row.data() + i, 8);
            bits(k, i / 64) |= (flags * gather >> 56) << i % 64;
        }
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
        auto for_rows = [&](Index k, auto into_of) {
            for (Index word = 0; word < inside.size(1); ++word)
                for (std::uint64_t bits = inside(k, word); bits; bits &= bits - 1) {
                    Index i = 64 * word + std::countr_zero(bits);
                    double* __restrict into = into_of(i);
                    const double* more = columns[i].begin();
                    for (Index c = 0; c < n_columns; ++c) into[c] += more[c];
                }
        };
        for (Index k = 0; k < n_boxes; ++k) {
            View<double, 2> own = sums[k];
            std::array<double, 6> only{};  // which processors keep at hand
            if (n_lines == 1 && n_columns <= 6) {
                for_rows(k, [&](Index) { return only.data(); });
                std::copy_n(only.begin(), Index(n_columns), own.begin());
            } else {
                for_rows(k, [&](Index i) { return own[line[i]].begin(); });
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

// Rows in the box, and those outside of one feature; how many of each.
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
        n_near += outside[i] == 1;
        inside_rows[n_inside] = std::uint32_t(i);
        n_inside += outside[i] == 0;
    }
    return {n_inside, n_near};
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

template <typename Bin, int N>
BoxMoves<Bin, N>::BoxMoves(const BoxProblem<Bin>& problem, View<bool, 1> box)
    : problem_(problem),
      box_(box),
      outside_(count_outside<Bin>(problem.grid, box)),
      inside_rows_(Vector<std::uint32_t>::empty({problem.grid.n_rows()})),
      near_rows_(Vector<std::uint32_t>::empty({problem.grid.n_rows()})),
      inside_cost_(Vector<double>::empty({N * problem.grid.n_rows()})),
      sums_(Vector<double>::empty({N * box.size()})),
      is_summed_(problem.grid.n_features()) {
    list_rows();
}

template <typename Bin, int N>
void BoxMoves<Bin, N>::list_rows() {
    std::tie(n_inside_, n_near_) = list_near<Bin>(outside_, inside_rows_, near_rows_);
    forget_costs();
}

template <typename Bin, int N>
void BoxMoves<Bin, N>::forget_costs() {
    for (Index j = 0; j < n_inside_; ++j)
        for (int c = 0; c < N; ++c)
            inside_cost_[N * j + c] = problem_.cost[N * Index(inside_rows_[j]) + c];
    is_summed_.fill(false);
}

template <typename Bin, int N>
double BoxMoves<Bin, N>::cost(Weights weights, double start) const {
    if constexpr (N == 1) {
        for (Index j = 0; j < n_inside_; ++j) start += inside_cost_[j];
        return start;
    }
    Weights sums{};
    for (Index j = 0; j < n_inside_; ++j)
        for (int c = 0; c < N; ++c) sums[c] += inside_cost_[N * j + c];
    for (int c = 0; c < N; ++c) start += weights[c] * sums[c];
    return start;
}

// Sum costs per bin of a few features, the first of them `d`: of the rows in the box,
// and of those that are outside of this feature only.
template <typename Bin, int N>
void BoxMoves<Bin, N>::sum_bins(Index d) {
    const Grid<Bin>& grid = problem_.grid;
    std::array<const Bin*, AT_ONCE> columns;
    std::array<double*, AT_ONCE> into;
    Index n = 0;
    for (; n < AT_ONCE && d + n < grid.n_features() && !is_summed_[d + n]; ++n) {
        columns[n] = grid.columns[d + n].begin();
        into[n] = sums_.data() + N * grid.start[d + n];
        std::fill_n(into[n], N * grid.n_bins[d + n], 0.0);
        is_summed_[d + n] = true;
    }
    with_number(n, [&](auto n_features) {
        for (Index j = 0; j < n_inside_; ++j)
            for (Index k = 0; k < n_features; ++k) {
                double* bin = into[k] + N * Index(columns[k][inside_rows_[j]]);
                for (int c = 0; c < N; ++c) bin[c] += inside_cost_[N * j + c];
            }
    });
    for (Index k = 0; k < n; ++k) {
        auto allowed = grid.part(box_, d + k);
        if (all(allowed)) continue;
        for (Index i : near_rows_.part(0, n_near_)) {
            auto b = columns[k][i];
            for (int c = 0; c < N; ++c)
                into[k][N * b + c] += number_if(!allowed[b], problem_.cost[N * i + c]);
        }
    }
}

template <typename Bin, int N>
double BoxMoves<Bin, N>::improve(Weights weights) {
    const auto& [grid, all_seen, unused, literal, counts, least, bounds] = problem_;
    Index n_features = grid.n_features(), d = 0, unchanged = 0;
    Vector<bool> parts(grid.most_bins());
    auto totals = Vector<double>::empty({grid.most_bins()});
    // The bound on visits only matters where rounding feigns a better cost.
    for (Index visits = 0; unchanged < n_features && visits < MOST_ROUNDS * n_features;
         ++visits, d = (d + 1) % n_features) {
        auto column = grid.columns[d];
        auto allowed = grid.part(box_, d);
        auto seen = grid.part(all_seen, d);
        auto better = parts.part(0, allowed.size());
        auto total = totals.part(0, allowed.size());
        bool is_category = grid.is_category[d];
        if (!is_summed_[d]) sum_bins(d);
        const double* sums = sums_.data() + N * grid.start[d];
        for (Index b = 0; b < total.size(); ++b) {
            total[b] = weights[0] * sums[N * b];
            for (int c = 1; c < N; ++c) total[b] += weights[c] * sums[N * b + c];
        }
        if (is_category) {
            best_categories(total, allowed, better);
            double some = part_cost(total, seen, better, true, literal);
            if (sum(total) <= some) better.fill(true);
        } else {
            best_interval(total, seen, allowed, literal, better, bounds(0, d),
                          bounds(1, d));
        }
        ++unchanged;
        if (std::equal(better.begin(), better.end(), allowed.begin())) continue;
        double now = part_cost(total, seen, allowed, is_category, literal);
        double then = part_cost(total, seen, better, is_category, literal);
        if (!(then < now - ROUNDING)) continue;
        double held = 0.0;
        for (Index i : rows()) held += number_if(better[column[i]], counts[i]);
        for (Index i : near_rows_.part(0, n_near_)) {
            auto b = column[i];
            held += number_if(better[b] & !allowed[b], counts[i]);
        }
        if (held < least) continue;
        unchanged = 1;
        add_allowed<Bin>(column, allowed, 1, outside_);
        add_allowed<Bin>(column, better, -1, outside_);
        std::copy(better.begin(), better.end(), allowed.begin());
        list_rows();
    }
    return cost(weights, literal * double(n_literals<Bin>(grid, all_seen, box_)));
}

template <typename Bin, int N>
void BoxMoves<Bin, N>::write_inside(View<bool, 1> inside) const {
    for (Index i = 0; i < inside.size(); ++i) inside[i] = outside_[i] == 0;
}

template class BoxMoves<std::uint16_t, 1>;
template class BoxMoves<std::uint32_t, 1>;
template class BoxMoves<std::uint16_t, 2>;
template class BoxMoves<std::uint32_t, 2>;

template <typename Bin>
double improve_box(const BoxProblem<Bin>& problem, View<bool, 1> box,
                   View<bool, 1> inside) {
    BoxMoves<Bin, 1> moves(problem, box);
    double found = moves.improve({1.0});
    moves.write_inside(inside);
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
