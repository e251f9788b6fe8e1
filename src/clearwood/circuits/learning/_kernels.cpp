// The hot loops of learning: counts of pairs, clusters of rows, trees of columns.
//
// Discrete columns come as codes, whole numbers of shape (n, d) with -1 where a cell is
// missing, continuous ones as reals with NaN there. The levels of column j stand at
// offsets[j] to offsets[j + 1] of what is counted per level.
#include <bit>
#include <numbers>

#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

using Codes = View<const std::int16_t, 2>;
using Offsets = View<const Index, 1>;

// Of hard EM, which ends by itself much sooner.
constexpr int MOST_STEPS = 1000;

// Rows whose scores are added up side by side: no sum waits for itself.
constexpr Index TOGETHER = 8;

// At the bits of all rows, for a pair of columns; one look takes 64 rows at a time.
// Columns of more than half as many levels need no bits.
constexpr Index MOST_LOOKS = 64;

// Pairs of columns

// One bit per row and level of a column: whether the cell is of that level.
struct BitPlanes {
    Matrix<std::uint64_t> planes;  // (levels, rows / 64)
    Vector<Index> starts;  // where the levels of each column begin; some have no bits
    Vector<Index> totals;  // rows of every level
};

BitPlanes bit_planes(Codes codes, Offsets offsets) {
    auto [n, d] = codes.shape();
    Vector<Index> starts(d + 1);
    for (Index j = 0; j < d; ++j) {
        Index size = offsets(j + 1) - offsets(j);
        starts(j + 1) = starts(j) + (2 * size <= MOST_LOOKS ? size : 0);
    }
    Matrix<std::uint64_t> planes({starts(d), (n + 63) / 64});
    for (Index i = 0; i < n; ++i) {
        std::uint64_t bit = std::uint64_t(1) << (i & 63);
        for (Index j = 0; j < d; ++j)
            if (codes(i, j) >= 0 && starts(j) < starts(j + 1))
                planes(starts(j) + codes(i, j), i >> 6) |= bit;
    }
    Vector<Index> totals(starts(d));
    for (Index p = 0; p < totals.size(); ++p)
        for (std::uint64_t word : planes[p]) totals(p) += std::popcount(word);
    return {std::move(planes), std::move(starts), std::move(totals)};
}

// Fill the table with the rows of each pair of levels, from the codes.
void count_by_rows(Codes codes, Index i, Index j, View<double, 2> table) {
    table.fill(0.0);
    for (Index r = 0; r < codes.size(0); ++r)
        if (codes(r, i) >= 0 && codes(r, j) >= 0)
            table(codes(r, i), codes(r, j)) += 1.0;
}

// Fill the table with the rows of each pair of levels, from their bits.
//
// complete : whether no cell of the two columns is missing. What is left of the totals
//     counts the last levels then, so that columns of two levels take one look at the
//     rows.
void count_by_bits(const BitPlanes& bits, Index i, Index j, bool complete,
                   View<double, 2> table) {
    Index low = bits.starts(i), start = bits.starts(j);
    Index rows = bits.starts(i + 1) - low, columns = bits.starts(j + 1) - start;
    for (Index a = 0; a < rows - complete; ++a) {
        for (Index b = 0; b < columns - complete; ++b) {
            View<const std::uint64_t, 1> one = bits.planes[low + a];
            View<const std::uint64_t, 1> other = bits.planes[start + b];
            Index count = 0;
            for (Index w = 0; w < one.size(); ++w)
                count += std::popcount(one(w) & other(w));
            table(a, b) = double(count);
        }
    }
    if (!complete) return;
    for (Index a = 0; a < rows - 1; ++a) {
        table(a, columns - 1) = double(bits.totals(low + a));
        for (Index b = 0; b < columns - 1; ++b) table(a, columns - 1) -= table(a, b);
    }
    for (Index b = 0; b < columns; ++b) {
        table(rows - 1, b) = double(bits.totals(start + b));
        for (Index a = 0; a < rows - 1; ++a) table(rows - 1, b) -= table(a, b);
    }
}

struct TableTest {
    double statistic;
    Index freedom;
    double n;
};

// The test of one table, whose empty levels do not count: Pearson's sum (O - E)^2 / E,
// or, with ratio, G = 2 sum O log(O / E).
//
// of_row, of_column : scratch, for the margins
TableTest table_test(View<const double, 2> table, Index rows, Index columns, bool ratio,
                     View<double, 1> of_row, View<double, 1> of_column) {
    of_row.part(0, rows).fill(0.0);
    of_column.part(0, columns).fill(0.0);
    for (Index a = 0; a < rows; ++a) {
        for (Index b = 0; b < columns; ++b) {
            of_row(a) += table(a, b);
            of_column(b) += table(a, b);
        }
    }
    double n = 0.0;
    Index row_levels = 0, column_levels = 0;
    for (Index a = 0; a < rows; ++a) {
        n += of_row(a);
        row_levels += of_row(a) > 0.0;
    }
    for (Index b = 0; b < columns; ++b) column_levels += of_column(b) > 0.0;
    double statistic = 0.0;
    for (Index a = 0; a < rows; ++a) {
        for (Index b = 0; b < columns; ++b) {
            if (of_row(a) == 0.0 || of_column(b) == 0.0) continue;
            double seen = table(a, b), expected = of_row(a) * (of_column(b) / n);
            double gap = seen - expected;
            if (!ratio)
                statistic += gap * gap / expected;
            else if (seen > 0.0)
                statistic += 2.0 * seen * std::log(seen / expected);
        }
    }
    return {statistic, std::max<Index>((row_levels - 1) * (column_levels - 1), 0), n};
}

// Of all pairs of columns the statistic, its degrees of freedom and the rows.
std::tuple<Matrix<double>, Matrix<Index>, Matrix<Index>> pair_tests(Codes codes,
                                                                    Offsets offsets,
                                                                    bool ratio) {
    auto [n, d] = codes.shape();
    BitPlanes bits = bit_planes(codes, offsets);
    Index most = 1;
    for (Index j = 0; j < d; ++j) most = std::max(most, offsets(j + 1) - offsets(j));
    Vector<bool> complete(d, true);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j)
            if (codes(i, j) < 0) complete(j) = false;
    Matrix<double> table({most, most}), statistic({d, d});
    Vector<double> of_row(most), of_column(most);
    Matrix<Index> freedom({d, d}), both({d, d});
    for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < i; ++j) {
            Index rows = offsets(i + 1) - offsets(i);
            Index columns = offsets(j + 1) - offsets(j);
            if (rows * columns > MOST_LOOKS || std::min(rows, columns) < 2)
                count_by_rows(codes, i, j, table);
            else
                count_by_bits(bits, i, j, complete(i) && complete(j), table);
            TableTest test = table_test(table, rows, columns, ratio, of_row, of_column);
            statistic(i, j) = statistic(j, i) = test.statistic;
            freedom(i, j) = freedom(j, i) = test.freedom;
            both(i, j) = both(j, i) = Index(test.n);
        }
    }
    return {std::move(statistic), std::move(freedom), std::move(both)};
}

// The number of each column's connected component, in the order of the columns.
Vector<Index> components(View<const bool, 2> edges) {
    Index d = edges.size(0), n_found = 0;
    Vector<Index> label(d, -1), waiting(d);
    for (Index start = 0; start < d; ++start) {
        if (label(start) >= 0) continue;
        label(start) = n_found;
        waiting(0) = start;
        Index n_waiting = 1;
        while (n_waiting > 0) {
            Index i = waiting(--n_waiting);
            for (Index j = 0; j < d; ++j) {
                if (edges(i, j) && label(j) < 0) {
                    label(j) = n_found;
                    waiting(n_waiting++) = j;
                }
            }
        }
        ++n_found;
    }
    return label;
}

// The spanning tree of most weight, by Prim's algorithm from column 0.
//
// Returns the columns from the root on, and the parent of each column, -1 for the root.
std::tuple<Vector<Index>, Vector<Index>> heaviest_tree(View<const double, 2> weight) {
    Index d = weight.size(0), now = 0;
    Vector<Index> order(d), parent(d, -1);
    Vector<double> best(d, -infinity);
    Vector<bool> outside(d, true);
    for (Index step = 0; step < d; ++step) {
        order(step) = now;
        outside(now) = false;
        Index following = -1;
        for (Index j = 0; j < d; ++j) {
            if (!outside(j)) continue;
            if (weight(now, j) > best(j)) {
                best(j) = weight(now, j);
                parent(j) = now;
            }
            if (following < 0 || best(j) > best(following)) following = j;
        }
        now = following;
    }
    return {std::move(order), std::move(parent)};
}

// Rows of the levels of columns, by the level of what each depends on.
//
// parents : positions in columns; -1 of what depends on nothing
// starts : where the table of (levels of the parent, levels) of each column begins, and
//     the end of the last
Vector<double> pair_counts(Codes codes, View<const Index, 1> columns,
                           View<const Index, 1> parents, View<const Index, 1> sizes,
                           View<const Index, 1> starts) {
    Vector<double> counts(starts(starts.size() - 1));
    for (Index i = 0; i < codes.size(0); ++i) {
        for (Index v = 0; v < columns.size(); ++v) {
            Index level = codes(i, columns(v));
            Index above = parents(v) < 0 ? 0 : codes(i, columns(parents(v)));
            if (level >= 0 && above >= 0)
                counts(starts(v) + above * sizes(v) + level) += 1.0;
        }
    }
    return counts;
}

// Clusters of rows

// The level of each column that most rows have; of several, the first.
Vector<std::int16_t> majority(Codes codes, Offsets offsets) {
    auto [n, d] = codes.shape();
    Vector<Index> counts(offsets(d));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j)
            if (codes(i, j) >= 0) ++counts(offsets(j) + codes(i, j));
    Vector<std::int16_t> levels(d);
    for (Index j = 0; j < d; ++j)
        levels(j) = std::int16_t(argmax(counts.part(offsets(j), offsets(j + 1))));
    return levels;
}

// How many cells of every row, present in both, are not as in one row.
Vector<Index> differing_cells(Codes codes, View<const std::int16_t, 1> row) {
    Vector<Index> result(codes.size(0));
    for (Index i = 0; i < codes.size(0); ++i) {
        int differing = 0;
        for (Index j = 0; j < row.size(); ++j) {  // without branches
            std::int16_t cell = codes(i, j);
            differing += (cell != row(j)) & (cell >= 0) & (row(j) >= 0);
        }
        result(i) = differing;
    }
    return result;
}

// The place of each cell's level among all; past the last one where missing.
Matrix<std::int32_t> level_places(Codes codes, Offsets offsets) {
    auto [n, d] = codes.shape();
    Matrix<std::int32_t> places({n, d});
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j)
            places(i, j) =
                std::int32_t(codes(i, j) < 0 ? offsets(d) : offsets(j) + codes(i, j));
    return places;
}

// Present cells of every level in every cluster, of shape (k, n_levels).
Matrix<double> level_counts(View<const std::int32_t, 2> places, Index n_levels,
                            View<const Index, 1> cluster, Index k) {
    Matrix<double> counts({k, n_levels});
    for (Index i = 0; i < places.size(0); ++i) {
        View<double, 1> own = counts[cluster(i)];
        for (std::int32_t place : places[i])
            if (place < n_levels) own(place) += 1.0;
    }
    return counts;
}

// Log probabilities of levels, alpha rows added to each, and a 0 at the end.
Matrix<double> log_tables(View<const double, 2> counts, Offsets offsets, double alpha) {
    auto [k, n_levels] = counts.shape();
    Matrix<double> tables({k, n_levels + 1});
    for (Index c = 0; c < k; ++c) {
        for (Index j = 0; j < offsets.size() - 1; ++j) {
            Index low = offsets(j), high = offsets(j + 1);
            double total = alpha * double(high - low);
            for (Index a = low; a < high; ++a) total += counts(c, a);
            for (Index a = low; a < high; ++a)
                tables(c, a) = std::log((counts(c, a) + alpha) / total);
        }
    }
    return tables;
}

// What clusters are before any row is seen: each level has alpha rows; kappa rows of a
// continuous column vary as all rows do, and no variance is below the floor.
struct Prior {
    View<const double, 1> mean, variance;
    double kappa, floor, alpha;
    auto fields() { return std::tie(mean, variance, kappa, floor, alpha); }
};

// Means and variances of columns in clusters, of shape (2, k, d).
//
// A cluster without present cells is as all rows are.
Array<double, 3> cluster_normals(View<const double, 2> reals,
                                 View<const Index, 1> cluster, Index k,
                                 const Prior& prior) {
    auto [n, d] = reals.shape();
    Matrix<double> count({k, d});
    Array<double, 3> result({2, k, d});
    View<double, 2> mean = result[0], variance = result[1];
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < d; ++j) {
            if (std::isnan(reals(i, j))) continue;
            count(cluster(i), j) += 1.0;
            mean(cluster(i), j) += reals(i, j);
        }
    }
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < d; ++j)
            mean(c, j) = count(c, j) > 0.0 ? mean(c, j) / count(c, j) : prior.mean(j);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < d; ++j) {
            if (std::isnan(reals(i, j))) continue;
            double gap = reals(i, j) - mean(cluster(i), j);
            variance(cluster(i), j) += gap * gap;
        }
    }
    for (Index c = 0; c < k; ++c) {
        for (Index j = 0; j < d; ++j) {
            double pooled = variance(c, j) + prior.kappa * prior.variance(j);
            double n_pooled = count(c, j) + prior.kappa;
            variance(c, j) = std::max(pooled / n_pooled, prior.floor);
        }
    }
    return result;
}

// log w_k + log p(row | k) of present cells, of shape (n, k).
Matrix<double> row_scores(View<const std::int32_t, 2> places,
                          View<const double, 2> reals,
                          View<const double, 1> log_weights,
                          View<const double, 2> tables, View<const double, 3> normals) {
    Index n = places.size(0), k = log_weights.size(), d = reals.size(1);
    Matrix<double> scores({n, k}), constant({k, d});
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < d; ++j)
            constant(c, j) = -0.5 * std::log(2.0 * std::numbers::pi * normals(1, c, j));
    for (Index c = 0; c < k; ++c) {
        View<const double, 1> table = tables[c];
        View<const double, 1> mean = normals[0][c], variance = normals[1][c];
        for (Index start = 0; start < n; start += TOGETHER) {
            std::array<Index, TOGETHER> row;
            std::array<double, TOGETHER> total;
            for (Index r = 0; r < TOGETHER; ++r) {
                row[r] = std::min(start + r, n - 1);
                total[r] = log_weights(c);
            }
            for (Index j = 0; j < places.size(1); ++j)
                for (Index r = 0; r < TOGETHER; ++r)
                    total[r] += table(places(row[r], j));
            for (Index j = 0; j < d; ++j) {
                for (Index r = 0; r < TOGETHER; ++r) {
                    double gap = reals(row[r], j) - mean(j);
                    if (std::isnan(gap)) continue;
                    total[r] += constant(c, j) - gap * gap / (2.0 * variance(j));
                }
            }
            for (Index r = 0; r < TOGETHER; ++r) scores(row[r], c) = total[r];
        }
    }
    return scores;
}

// Clusters of rows whose columns are independent, each row in its likeliest one.
//
// start : (n,), the cluster of each row to begin with
//
// Ends where rows stay, with the parameters that they stayed under, or where a cluster
// has lost all its rows. Returns the cluster of each row, the log weights, the tables
// of log_tables and the means and variances of cluster_normals.
std::tuple<Vector<Index>, Vector<double>, Matrix<double>, Array<double, 3>> hard_em(
    Codes codes, Offsets offsets, View<const double, 2> reals, const Prior& prior,
    View<const Index, 1> start, Index k) {
    auto [n, d] = codes.shape();
    Matrix<std::int32_t> places = level_places(codes, offsets);
    Vector<Index> cluster = copy_of(start);
    Vector<double> log_weights(k);
    Matrix<double> counts = level_counts(places, offsets(d), cluster, k);
    Matrix<double> tables({0, 0});
    Array<double, 3> normals({0, 0, 0});
    for (int step = 0; step < MOST_STEPS; ++step) {
        Vector<double> sizes(k);
        for (Index c : cluster) sizes(c) += 1.0;
        double n_pooled = double(n) + double(k) * prior.alpha;
        for (Index c = 0; c < k; ++c)
            log_weights(c) = std::log((sizes(c) + prior.alpha) / n_pooled);
        tables = log_tables(counts, offsets, prior.alpha);
        normals = cluster_normals(reals, cluster, k, prior);
        if (k == 1 || *std::min_element(sizes.begin(), sizes.end()) == 0.0) break;
        Matrix<double> scores = row_scores(places, reals, log_weights, tables, normals);
        bool moved = false;
        for (Index i = 0; i < n; ++i) {
            Index best = argmax(scores[i]);
            if (best == cluster(i)) continue;
            moved = true;
            for (std::int32_t place : places[i]) {
                if (place == offsets(d)) continue;
                counts(cluster(i), place) -= 1.0;
                counts(best, place) += 1.0;
            }
            cluster(i) = best;
        }
        if (!moved) break;
    }
    return {std::move(cluster), std::move(log_weights), std::move(tables),
            std::move(normals)};
}

}  // namespace

void add_circuits_learning(nb::module_& module) {
    add_kernel(module, "pair_tests", &pair_tests);
    add_kernel(module, "components", &components);
    add_kernel(module, "heaviest_tree", &heaviest_tree);
    add_kernel(module, "pair_counts", &pair_counts);
    add_kernel(module, "majority", &majority);
    add_kernel(module, "differing_cells", &differing_cells);
    add_kernel(module, "level_places", &level_places);
    add_kernel(module, "level_counts", &level_counts);
    add_kernel(module, "row_scores", &row_scores);
    add_kernel(module, "hard_em", &hard_em);
}
