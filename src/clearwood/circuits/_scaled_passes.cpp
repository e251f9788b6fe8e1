// Passes over compiled circuits for many rows: in probabilities, where _kernels.cpp has
// logs.
//
// Of every row, each leaf is divided by a bound, the largest that a leaf over its
// column is there. All leaves of a column being divided by the same, so are the
// children of a sum, and logs are needed at the root alone. No node exceeds 1 then (but
// by what leaves of several columns exceed the product of their bounds by), and what is
// too small for a double adds nothing to a root that is not small itself. Of rows whose
// root is, the answer is NaN; they have to be asked for in logs.
#include <map>
#include <vector>

#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::circuits;

namespace {

// Rows that go through the circuit side by side: their values stay in the cache, and
// what is read of the circuit serves all of them.
constexpr Index LANES = 32;
using Lanes = std::array<double, LANES>;

// Roots below this have to be found in logs; what is below NOTHING in a node is nothing
// beside any other.
constexpr double LEAST = 1e-250;
constexpr double NOTHING = 1e-290;

// Entries of the table of several leaves, a missing cell being one more level of each;
// four leaves of two levels have as many.
constexpr Index MOST_ENTRIES = 81;

Lanes lanes_of(double value) {
    Lanes lanes;
    lanes.fill(value);
    return lanes;
}

template <Index N>
double total(const double* lanes) {
    if constexpr (N == 1) {
        return lanes[0];
    } else {
        std::array<double, N / 2> half;
        for (Index r = 0; r < N / 2; ++r) half[r] = lanes[r] + lanes[r + N / 2];
        return total<N / 2>(half.data());
    }
}

// Sixteen at a time, so that sums are the same bits whatever the number of lanes.
void add_total(double& sum, const Lanes& lanes) {
    for (Index r = 0; r < LANES; r += 16) sum += total<16>(&lanes[r]);
}

// Leaves of other kinds: the node that each belongs to, the variables that it is of,
// from first[i] to first[i + 1], and its log density in every row.
struct Others {
    View<const Index, 1> node, first, variable;
    View<const double, 2> log;
    auto fields() { return std::tie(node, first, variable, log); }

    Index size() const { return node.size(); }
    View<const Index, 1> variables(Index i) const {
        return variable.part(first(i), first(i + 1));
    }
};

struct Leaves {
    Levels levels;
    Normals normals;
    Others others;
    auto fields() { return std::tie(levels, normals, others); }
};

// Which leaves belong to each node, in the order of the leaves.
class OfNodes {
public:
    OfNodes(View<const Index, 1> node, Index n_nodes)
        : first_(n_nodes + 1), leaf_(node.size()) {
        for (Index i : node) ++first_(i + 1);
        for (Index i = 0; i < n_nodes; ++i) first_(i + 1) += first_(i);
        Vector<Index> next = copy_of(first_);
        for (Index i = 0; i < node.size(); ++i) leaf_(next(node(i))++) = i;
    }
    View<const Index, 1> operator()(Index node) const {
        return leaf_.part(first_(node), first_(node + 1));
    }

private:
    Vector<Index> first_, leaf_;
};

using Whole = std::array<std::uint16_t, LANES>;

// Some leaves of a node over levels as one table, of all levels of their columns, so
// that one look at it takes the place of one at each leaf.
struct Group {
    View<const Index, 1> leaves;
    Index table = 0, size = 1;  // where it begins, and its entries
    Index key = 0;
};

// The columns of a table, which groups of several nodes may share, and which entry the
// rows at hand have.
struct Key {
    std::vector<Index> columns;
    Whole entry{};
};

// A column, and what is known of it in the rows at hand.
struct Column {
    Index n_levels = 0;  // 0 where no leaf is over levels
    Index radix = 0;     // with one more that stands for missing cells, if any are
    bool is_normal = false;
    std::vector<double> bounds, log_bounds;  // of levels
    Whole level{};                           // n_levels where missing
    Lanes number{}, log_bound{};
    Lanes excess{};  // of leaves of several columns, whose first this is, over bounds
};

// What rows add to.
struct Expected {
    Vector<double> edges;   // flow along the edges of sums
    Vector<double> levels;  // of all leaves
    Matrix<double> moments;  // of normal leaves, as normal_moments
    Matrix<double> flow;    // (others, rows)
};

class Evaluation {
public:
    Evaluation(const Edges& edges, const Leaves& leaves, View<const double, 2> values)
        : edges_(edges), leaves_(leaves), values_(values),
          n_nodes_(edges.is_sum.size()), of_levels_(leaves.levels.node, n_nodes_),
          of_normals_(leaves.normals.node, n_nodes_),
          of_others_(leaves.others.node, n_nodes_), columns_(values.size(1)),
          group_end_(n_nodes_), log_normal_(leaves.normals.node.size()),
          value_(n_nodes_), flow_(n_nodes_) {
        for (double log : edges.log_weight) weight_.push_back(std::exp(log));
        for (Index j : leaves.normals.variable) columns_[j].is_normal = true;
        for (double variance : leaves.normals.variance) {
            log_top_.push_back(-0.5 * std::log(2.0 * std::numbers::pi * variance));
            factor_.push_back(-0.5 / variance);
        }
        look_at_levels();
        for (Index node = 0; node < n_nodes_; ++node) {
            make_groups(of_levels_(node));
            group_end_[node] = Index(groups_.size());
        }
        cell_.resize(table_.size());
    }

    // Log densities of the rows from start on; the values of nodes are kept.
    Lanes upward(Index start) {
        read(start);
        Index g = 0;
        for (Index node = 0; node < n_nodes_; ++node) {
            Lanes own = lanes_of(edges_.is_sum(node) ? 0.0 : 1.0);
            for (Index e = edges_.first(node); e < edges_.first(node + 1); ++e) {
                const Lanes& below = value_[edges_.child(e)];
                double weight = weight_[e];
                if (edges_.is_sum(node))
                    for (Index r = 0; r < LANES; ++r) own[r] += weight * below[r];
                else
                    for (Index r = 0; r < LANES; ++r) own[r] *= below[r];
            }
            for (; g < group_end_[node]; ++g) {
                const double* table = &table_[groups_[g].table];
                const Whole& entry = keys_[groups_[g].key].entry;
                for (Index r = 0; r < LANES; ++r) own[r] *= table[entry[r]];
            }
            multiply_by_densities(node, start, own);
            for (Index r = 0; r < LANES; ++r) own[r] = own[r] > NOTHING ? own[r] : 0.0;
            value_[node] = own;
        }
        Lanes log = lanes_of(0.0), excess = lanes_of(0.0);
        for (const Column& column : columns_) {
            for (Index r = 0; r < LANES; ++r) {
                log[r] += column.log_bound[r];
                excess[r] += column.excess[r];
            }
        }
        const Lanes& root = value_.back();
        for (Index r = 0; r < LANES; ++r) {
            bool clear = fits_ && root[r] >= LEAST * std::exp(excess[r]) &&
                         root[r] < infinity;
            log[r] = clear ? log[r] + std::log(root[r]) : not_a_number;
        }
        return log;
    }

    // The flow from the root through the nodes, after upward.
    void downward(Index start, const Lanes& at_root, Expected& expected) {
        Index n_rows = std::min(LANES, values_.size(0) - start);
        Index g = Index(groups_.size());
        flow_.back() = at_root;
        for (Index node = n_nodes_ - 1; node >= 0; --node) {
            const Lanes own = flow_[node];
            Lanes ratio = own;
            if (edges_.is_sum(node))
                for (Index r = 0; r < LANES; ++r)
                    ratio[r] = own[r] > 0.0 ? own[r] / value_[node][r] : 0.0;
            for (Index e = edges_.first(node); e < edges_.first(node + 1); ++e) {
                Index child = edges_.child(e);
                if (!edges_.is_sum(node)) {
                    flow_[child] = own;
                    continue;
                }
                Lanes below = value_[child];
                // Of rows without a flow, values may be infinite.
                for (Index r = 0; r < LANES; ++r) {
                    double share = weight_[e] * ratio[r];
                    below[r] = share > 0.0 ? share * below[r] : 0.0;
                }
                flow_[child] = below;
                add_total(expected.edges(e), below);
            }
            Index begin = node > 0 ? group_end_[node - 1] : 0;
            while (g > begin) {
                double* cell = &cell_[groups_[--g].table];
                const Whole& entry = keys_[groups_[g].key].entry;
                for (Index r = 0; r < LANES; ++r) cell[entry[r]] += own[r];
            }
            for (Index i : of_normals_(node)) add_moments(i, own, expected.moments);
            for (Index i : of_others_(node))
                std::copy_n(own.begin(), n_rows, &expected.flow(i, start));
        }
    }

    // Expected counts of the levels of all leaves, from all rows so far.
    Vector<double> levels() const {
        Vector<double> counts(leaves_.levels.probability.size());
        for (const Group& group : groups_) {
            Index stride = 1;
            for (Index i : group.leaves) {
                const Column& column = columns_[leaves_.levels.variable(i)];
                for (Index entry = 0; entry < group.size; ++entry) {
                    Index level = entry / stride % column.radix;
                    if (level < column.n_levels)
                        counts(leaves_.levels.first(i) + level) +=
                            cell_[group.table + entry];
                }
                stride *= column.radix;
            }
        }
        return counts;
    }

private:
    Edges edges_;
    Leaves leaves_;
    View<const double, 2> values_;
    Index n_nodes_;
    bool fits_ = true;  // whether all levels have numbers of 16 bits
    OfNodes of_levels_, of_normals_, of_others_;
    std::vector<double> weight_;
    std::vector<Column> columns_;
    std::vector<Group> groups_;      // node by node
    std::vector<Index> group_end_;   // of those of each node
    std::vector<Key> keys_;
    std::map<std::vector<Index>, Index> key_of_;
    std::vector<double> table_;      // of all groups
    std::vector<double> cell_;       // what has come to each entry
    std::vector<double> log_top_, factor_;  // of normal leaves: log density at the mean,
                                            // and what squares of distances count
    std::vector<Lanes> log_normal_;  // log densities of normal leaves
    std::vector<Lanes> value_, flow_;

    // The bounds of all levels, and in which columns a cell is missing or unknown.
    void look_at_levels() {
        const Levels& levels = leaves_.levels;
        for (Index i = 0; i < levels.node.size(); ++i) {
            Column& column = columns_[levels.variable(i)];
            column.n_levels = levels.size(i);
            fits_ &= column.n_levels < std::numeric_limits<std::uint16_t>::max();
            column.bounds.resize(column.n_levels);
            for (Index k = 0; k < column.n_levels; ++k)
                column.bounds[k] =
                    std::max(column.bounds[k], levels.probability(levels.first(i) + k));
        }
        for (Column& column : columns_) {
            column.radix = column.n_levels;
            for (double bound : column.bounds)
                column.log_bounds.push_back(bound > 0.0 ? std::log(bound) : 0.0);
            column.log_bounds.push_back(0.0);
        }
        for (Index row = 0; row < values_.size(0); ++row)
            for (Index j = 0; j < values_.size(1); ++j)
                if (level_of(columns_[j], values_(row, j)) == columns_[j].n_levels)
                    columns_[j].radix = columns_[j].n_levels + 1;
    }

    static Index level_of(const Column& column, double x) {
        return 0.0 <= x && x < double(column.n_levels) ? Index(x) : column.n_levels;
    }

    // Of one leaf, whether a cell is missing or not.
    Index most_entries(Index leaf) const {
        return columns_[leaves_.levels.variable(leaf)].n_levels + 1;
    }

    // By the numbers of levels alone, so that no row's density depends on other rows.
    void make_groups(View<const Index, 1> leaves) {
        for (Index begin = 0, end = 0; begin < leaves.size(); begin = end) {
            Index entries = 1;
            do {
                entries *= most_entries(leaves(end++));
            } while (end < leaves.size() &&
                     entries * most_entries(leaves(end)) <= MOST_ENTRIES);
            Group group;
            group.leaves = leaves.part(begin, end);
            group.table = Index(table_.size());
            table_.push_back(1.0);
            std::vector<Index> columns;
            for (Index i : group.leaves) {
                add_to_table(i, group);
                columns.push_back(leaves_.levels.variable(i));
            }
            auto [known, added] = key_of_.try_emplace(columns, Index(keys_.size()));
            if (added) keys_.push_back({columns});
            group.key = known->second;
            groups_.push_back(group);
        }
    }

    // The product of the table, the last one, with one more leaf.
    void add_to_table(Index i, Group& group) {
        const Levels& levels = leaves_.levels;
        const Column& column = columns_[levels.variable(i)];
        table_.resize(group.table + group.size * column.radix);
        for (Index level = column.radix - 1; level >= 0; --level) {
            double share = 1.0;  // of a missing cell
            if (level < column.n_levels) {
                share = levels.probability(levels.first(i) + level);
                if (share > 0.0) share /= column.bounds[level];
            }
            for (Index entry = 0; entry < group.size; ++entry)
                table_[group.table + level * group.size + entry] =
                    share * table_[group.table + entry];
        }
        group.size *= column.radix;
    }

    // Levels, numbers and bounds of the rows from start on; the last row stands in for
    // those beyond it.
    void read(Index start) {
        const Normals& normals = leaves_.normals;
        for (Index j = 0; j < values_.size(1); ++j) {
            Column& column = columns_[j];
            column.excess.fill(0.0);
            for (Index r = 0; r < LANES; ++r) {
                double x = values_(std::min(start + r, values_.size(0) - 1), j);
                Index level = level_of(column, x);
                column.number[r] = x;
                column.level[r] = std::uint16_t(level);
                column.log_bound[r] =
                    column.is_normal ? -infinity : column.log_bounds[level];
            }
        }
        for (Key& key : keys_) {
            key.entry.fill(0);
            Index stride = 1;
            for (Index j : key.columns) {
                const Column& column = columns_[j];
                for (Index r = 0; r < LANES; ++r)
                    key.entry[r] += std::uint16_t(stride * column.level[r]);
                stride *= column.radix;
            }
        }
        for (Index i = 0; i < normals.node.size(); ++i) {
            Column& column = columns_[normals.variable(i)];
            const Lanes x = column.number;  // copies, which nothing else can change
            Lanes log, bound = column.log_bound;
            double mean = normals.mean(i), log_top = log_top_[i], factor = factor_[i];
            for (Index r = 0; r < LANES; ++r) {
                double gap = x[r] - mean, own = log_top + factor * gap * gap;
                log[r] = std::isnan(gap) ? 0.0 : own;
                bound[r] = std::max(bound[r], log[r]);
            }
            log_normal_[i] = log;
            column.log_bound = bound;
        }
        for (Index i = 0; i < leaves_.others.size(); ++i) {
            Lanes log = of_bounds(i, start);
            Lanes& excess = columns_[leaves_.others.variables(i)(0)].excess;
            for (Index r = 0; r < LANES; ++r) excess[r] = std::max(excess[r], log[r]);
        }
    }

    // Log density of another leaf, divided by its bounds.
    Lanes of_bounds(Index i, Index start) const {
        Lanes log;
        for (Index r = 0; r < LANES; ++r)
            log[r] = leaves_.others.log(i, std::min(start + r, values_.size(0) - 1));
        for (Index j : leaves_.others.variables(i))
            for (Index r = 0; r < LANES; ++r) log[r] -= columns_[j].log_bound[r];
        return log;
    }

    void multiply_by_densities(Index node, Index start, Lanes& own) const {
        View<const Index, 1> normals = of_normals_(node), others = of_others_(node);
        if (normals.size() + others.size() == 0) return;
        Lanes log = lanes_of(0.0);
        for (Index i : normals) {
            const Lanes& bound = columns_[leaves_.normals.variable(i)].log_bound;
            for (Index r = 0; r < LANES; ++r) log[r] += log_normal_[i][r] - bound[r];
        }
        for (Index i : others) {
            Lanes divided = of_bounds(i, start);
            for (Index r = 0; r < LANES; ++r) log[r] += divided[r];
        }
        for (Index r = 0; r < LANES; ++r) own[r] *= std::exp(log[r]);
    }

    void add_moments(Index i, const Lanes& flow, View<double, 2> moments) const {
        const Lanes x = columns_[leaves_.normals.variable(i)].number;
        double mean = leaves_.normals.mean(i);
        Lanes weight, sums, squares;
        for (Index r = 0; r < LANES; ++r) {
            double gap = x[r] - mean;
            weight[r] = std::isnan(gap) ? 0.0 : flow[r];
            gap = std::isnan(gap) ? 0.0 : gap;
            sums[r] = weight[r] * gap;
            squares[r] = sums[r] * gap;
        }
        add_total(moments(i, 0), weight);
        add_total(moments(i, 1), sums);
        add_total(moments(i, 2), squares);
    }
};

// Log densities of rows; NaN where they have to be found in logs.
Vector<double> scaled_upward(const Edges& edges, const Leaves& leaves,
                             View<const double, 2> values) {
    Vector<double> log(values.size(0));
    Evaluation evaluation(edges, leaves, values);
    for (Index start = 0; start < log.size(); start += LANES) {
        Lanes found = evaluation.upward(start);
        std::copy_n(found.begin(), std::min(LANES, log.size() - start), &log(start));
    }
    return log;
}

// The same, and what the rows that have an answer add to: expected counts of the edges
// of sums and of levels, moments of normal leaves, and the flow to other leaves.
std::tuple<Vector<double>, Vector<double>, Vector<double>, Matrix<double>,
           Matrix<double>>
scaled_passes(const Edges& edges, const Leaves& leaves, View<const double, 2> values,
              View<const double, 1> weight) {
    Vector<double> log(values.size(0));
    Evaluation evaluation(edges, leaves, values);
    Expected expected{Vector<double>(edges.child.size()), Vector<double>(0),
                      Matrix<double>({leaves.normals.node.size(), 3}),
                      Matrix<double>({leaves.others.size(), log.size()})};
    for (Index start = 0; start < log.size(); start += LANES) {
        Lanes found = evaluation.upward(start), at_root = lanes_of(0.0);
        Index n_rows = std::min(LANES, log.size() - start);
        std::copy_n(found.begin(), n_rows, &log(start));
        for (Index r = 0; r < n_rows; ++r)
            at_root[r] = std::isnan(found[r]) ? 0.0 : weight(start + r);
        evaluation.downward(start, at_root, expected);
    }
    return {std::move(log), std::move(expected.edges), evaluation.levels(),
            std::move(expected.moments), std::move(expected.flow)};
}

}  // namespace

void add_scaled_passes(nb::module_& module) {
    add_kernel(module, "scaled_upward", &scaled_upward);
    add_kernel(module, "scaled_passes", &scaled_passes);
}
