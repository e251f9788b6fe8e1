// The inner loops of inTrees: what rules cover, how wrong they are, and without what.
//
// Sets of rows are packed bits, eight rows to a byte, the first one lowest.
#include <bit>

#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

using Bits = View<const std::uint8_t, 1>;

// The distinct literals of rules, see paths.Literals.
struct Literals {
    View<const std::int64_t, 1> feature, low, high, other, start;
    View<const bool, 1> truth;

    auto fields() { return std::tie(feature, low, high, other, start, truth); }
};

// The rows that evaluate rules: what these shall predict comes as class numbers
// (n_classes of them) or as values (n_classes 0).
struct EvaluationRows {
    View<const double, 1> target, weight;
    Index n_classes;

    auto fields() { return std::tie(target, weight, n_classes); }
};

// Weight of some rows, and weighted sums of their targets and of the squares of these.
// With classes, nothing and the weight of the rows of another class than is predicted.
struct Sums {
    double total = 0.0, first = 0.0, second = 0.0;
};

// Weight of some rows, what is predicted for them, and the loss.
struct Evaluation {
    double total, predicted, loss;
};

// Which rows satisfy which literals, as packed bits (n_literals, n_rows / 8).
template <typename Code>
Matrix<std::uint8_t> satisfied(View<const Code, 2> columns, const Literals& literals) {
    Index n_literals = literals.feature.size(), n_rows = columns.size(1);
    Matrix<std::uint8_t> bits({n_literals, (n_rows + 7) / 8});
    for (Index one = 0; one < n_literals; ++one) {
        View<const Code, 1> column = columns[literals.feature[one]];
        Index low = literals.low[one], high = literals.high[one];
        Index other = literals.other[one], start = literals.start[one];
        for (Index r = 0; r < n_rows; ++r) {
            Index code = column[r];
            bool inside = start >= 0 ? literals.truth[start + code]
                                     : (low <= code && code <= high) || code == other;
            bits(one, r >> 3) |= inside << (r & 7);
        }
    }
    return bits;
}

void intersect(Bits a, Bits b, View<std::uint8_t, 1> both) {
    for (Index i = 0; i < both.size(); ++i) both[i] = a[i] & b[i];
}

// Sums over the rows in two sets at once.
Sums sums_over(Bits bits, Bits mask, const EvaluationRows& rows, double predicted) {
    Sums sums;
    for (Index i = 0; i < bits.size(); ++i) {
        std::uint8_t byte = bits[i] & mask[i];
        for (; byte != 0; byte &= byte - 1) {  // Bit after bit, the lowest first.
            Index r = 8 * i + std::countr_zero(byte);
            double target = rows.target[r], weight = rows.weight[r];
            sums.total += weight;
            if (rows.n_classes == 0) {
                sums.first += weight * target;
                sums.second += weight * (target * target);
            } else if (target != predicted) {
                sums.second += weight;
            }
        }
    }
    return sums;
}

// What to predict for the rows in two sets at once, and the loss.
//
// The class predicted is predicted again, and the loss is the weight of the rows of
// another; or the mean is predicted, and the loss is the sum of squared differences
// from it.
Evaluation evaluated(Bits bits, Bits mask, const EvaluationRows& rows,
                     double predicted) {
    Sums sums = sums_over(bits, mask, rows, predicted);
    if (rows.n_classes > 0 || !(sums.total > 0))
        return {sums.total, predicted, sums.second};
    predicted = sums.first / sums.total;
    return {sums.total, predicted, std::max(sums.second - sums.first * predicted, 0.0)};
}

// The class of most weight in a set of rows; of several the first.
double most_frequent(Bits bits, const EvaluationRows& rows) {
    Vector<double> mass(std::max<Index>(rows.n_classes, 1));
    if (rows.n_classes > 0)
        for (Index r = 0; r < rows.target.size(); ++r)
            if (bits[r >> 3] >> (r & 7) & 1)
                mass[Index(rows.target[r])] += rows.weight[r];
    return argmax(mass);
}

// Leave out literals, last first, without which the error rises little.
//
// borders, literal : rules, see paths.Paths
// satisfied_by : (n_literals, n_rows / 8), see satisfied
// most : most that the error of the whole rule may rise; minus infinity to keep all
//     literals
// floor : errors below this count as this where the rise is relative
// relative : whether the rise is relative to the error of the whole rule
//
// Returns
// kept : per entry of literal
// bits : the rows of what is left of each rule, (n_rules, n_rows / 8)
// total, predicted, loss : (n_rules, 2) weight of the rows of the whole rule, and of
//     what is left of it, what is predicted for them, and its loss. The class is that
//     of most weight in the whole rule.
std::tuple<Vector<bool>, Matrix<std::uint8_t>, Matrix<double>, Matrix<double>,
           Matrix<double>>
prune(View<const std::int64_t, 1> borders, View<const std::int64_t, 1> literal,
      View<const std::uint8_t, 2> satisfied_by, const EvaluationRows& rows, double most,
      double floor, bool relative) {
    Index n_rules = borders.size() - 1, n_bytes = satisfied_by.size(1), longest = 0;
    for (Index k = 0; k < n_rules; ++k)
        longest = std::max(longest, borders[k + 1] - borders[k]);
    // Line i: the rows that satisfy the first i literals of a rule.
    Matrix<std::uint8_t> held({longest + 1, n_bytes}, 255);
    Vector<bool> kept(literal.size(), true);
    Matrix<std::uint8_t> bits({n_rules, n_bytes}, 255);
    Matrix<double> total({n_rules, 2}), predicted({n_rules, 2}), loss({n_rules, 2});
    auto note = [&](Index k, int column, const Evaluation& found) {
        total(k, column) = found.total;
        predicted(k, column) = found.predicted;
        loss(k, column) = found.loss;
    };
    for (Index k = 0; k < n_rules; ++k) {
        Index first = borders[k], size = borders[k + 1] - first;
        for (Index i = 0; i < size; ++i)
            intersect(held[i], satisfied_by[literal[first + i]], held[i + 1]);
        // The rows that satisfy all literals that were found to be needed.
        View<std::uint8_t, 1> needed = bits[k];
        Evaluation found =
            evaluated(held[size], needed, rows, most_frequent(held[size], rows));
        note(k, 0, found);
        note(k, 1, found);
        if (found.total == 0.0) continue;
        double before = found.loss / found.total;
        Index n_needed = 0;
        for (Index i = size - 1; i >= 0; --i) {
            double rise = infinity;
            if (i + n_needed > 0) {  // Not the last one left.
                found = evaluated(held[i], needed, rows, predicted(k, 0));
                rise = found.loss / found.total - before;
                if (relative) rise /= std::max(before, floor);
            }
            if (rise <= most) {
                kept[first + i] = false;
                note(k, 1, found);
            } else {
                intersect(needed, satisfied_by[literal[first + i]], needed);
                ++n_needed;
            }
        }
    }
    return {std::move(kept), std::move(bits), std::move(total), std::move(predicted),
            std::move(loss)};
}

// Add the sums over a set of rows to those of every rule that covers them, times sign.
void add_rows(View<double, 2> sums, View<const std::uint8_t, 2> bits, Bits mask,
              double sign, const EvaluationRows& rows, View<const double, 1> predicted) {
    for (Index k = 0; k < bits.size(0); ++k) {
        Sums found = sums_over(bits[k], mask, rows, predicted[k]);
        sums(k, 0) += sign * found.total;
        sums(k, 1) += sign * found.first;
        sums(k, 2) += sign * found.second;
    }
}

}  // namespace

void add_in_trees(nb::module_& module) {
    add_kernel(module, "satisfied", &satisfied<std::uint8_t>);
    add_kernel(module, "satisfied", &satisfied<std::uint16_t>);
    add_kernel(module, "satisfied", &satisfied<std::uint32_t>);
    add_kernel(module, "prune", &prune);
    add_kernel(module, "add_rows", &add_rows);
}
