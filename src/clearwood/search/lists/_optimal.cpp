// The hot loop of the exact search for lists: all boxes of two literals, by counts of
// pairs.
#include "../_loss.hpp"

using namespace clearwood;
using namespace clearwood::search;

namespace {

// table[a, b]: sums over the rows at places up to a of one order and up to b of another.
template <typename Columns>
void add_pairs(View<const Index, 2> places, View<const Index, 1> start,
               View<const Index, 1> rows, View<const double, 2> stats,
               Columns n_columns, View<double, 3> table) {
    Index n_orders = places.size(1), n_places = start[n_orders];
    auto add = [&](const double* from, Index a, Index b) {
        double* to = table.data() + (a * n_places + b) * n_columns;
        for (Index c = 0; c < n_columns; ++c) to[c] += from[c];
    };
    for (Index i : rows)
        for (Index q = 0; q < n_orders; ++q)
            for (Index p = q; p < n_orders; ++p)
                add(&stats(i, 0), places(i, q), places(i, p));
    for (Index q = 0; q < n_orders; ++q)
        for (Index a = start[q]; a < start[q + 1]; ++a) {
            for (Index p = q; p < n_orders; ++p)
                for (Index b = start[p] + 1; b < start[p + 1]; ++b)
                    add(&table(a, b - 1, 0), a, b);
            if (a == start[q]) continue;
            for (Index b = start[q]; b < n_places; ++b) add(&table(a - 1, b, 0), a, b);
        }
}

// Sums of some columns over the rows in every box.
//
// places : (n_rows, n_orders), where each row stands in each order of bins; the places
//          of one order follow those of the order before
// start : (n_orders + 1), where the places of each order begin
// rows : the rows that count
// stats : (n_rows, n_columns)
// boxes : (n_boxes, 4), two literals each: a place, and 0 for the rows up to it or 1 for
//         those after it; the first place is of no later order than the second
Matrix<double> sums_of_literal_pairs(View<const Index, 2> places,
                                     View<const Index, 1> start,
                                     View<const Index, 1> rows,
                                     View<const double, 2> stats,
                                     View<const Index, 2> boxes) {
    Index n_columns = stats.size(1);
    Index n_places = start[start.size() - 1];
    Array<double, 3> table({n_places, n_places, n_columns});
    with_number(n_columns, [&](auto number) {
        add_pairs(places, start, rows, stats, number, table);
    });
    Vector<double> whole(n_columns);
    for (Index i : rows)
        for (Index c = 0; c < n_columns; ++c) whole[c] += stats(i, c);
    Matrix<double> sums({boxes.size(0), n_columns});
    for (Index k = 0; k < boxes.size(0); ++k) {
        Index a = boxes(k, 0), b = boxes(k, 2);
        bool after_a = boxes(k, 1), after_b = boxes(k, 3);
        for (Index c = 0; c < n_columns; ++c) {
            double both = table(a, b, c), first = table(a, a, c);
            double second = table(b, b, c);
            if (after_a && after_b)
                sums(k, c) = whole[c] - first - second + both;
            else
                sums(k, c) = after_a ? second - both : after_b ? first - both : both;
        }
    }
    return sums;
}

// The least loss of some rows, by the sums of their bases, scores and shares.
double least_of_sums(const LossForm& form, const double* sums, Index n_scores) {
    double share = sums[n_scores + 1], largest = -infinity, squares = 0.0;
    if (share <= ROUNDING) return 0.0;
    for (Index s = 1; s <= n_scores; ++s) {
        largest = std::max(largest, sums[s]);
        squares += sums[s] * sums[s];
    }
    return sums[0] - (form.kind == REGRET ? largest : form.soft * squares / share);
}

// Of the rows in every box, and of those outside, what one prediction loses at least.
//
// sums : (n_boxes, n_columns), of the rows in every box: bases, scores, shares, others
// whole : (n_columns), of all rows
std::tuple<Vector<double>, Vector<double>> least_in_and_out(
    const LossForm& form, View<const double, 2> sums, View<const double, 1> whole,
    Index n_scores) {
    Vector<double> in(sums.size(0)), out(sums.size(0)), others(n_scores + 2);
    for (Index k = 0; k < sums.size(0); ++k) {
        for (Index c = 0; c < others.size(); ++c) others[c] = whole[c] - sums(k, c);
        in[k] = least_of_sums(form, sums[k].data(), n_scores);
        out[k] = least_of_sums(form, others.data(), n_scores);
    }
    return {std::move(in), std::move(out)};
}

}  // namespace

void add_search_optimal(nb::module_& module) {
    add_kernel(module, "sums_of_literal_pairs", &sums_of_literal_pairs);
    add_kernel(module, "least_in_and_out", &least_in_and_out);
}
