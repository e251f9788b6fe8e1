// Quantiles of mixtures of Student's t, by Halley's method between known bounds.
#include "../../_native/array.hpp"
#include "../../distributions/_kernels.hpp"

#include <numbers>

using namespace clearwood;
using namespace clearwood::distributions;

namespace {

using Numbers = View<const double, 1>;
using Table = View<const double, 2>;

// Of the continued fraction; some 20 are needed.
constexpr int MOST_TERMS = 500;

// Of the search; Halley's method needs about 4, halving alone more.
constexpr int MOST_STEPS = 300;

// Smaller shares of the largest weight wait until the quantile is nearly found.
constexpr double ROUGH = 1e-4;

// Log density at 0 of Student's t with 2a degrees of freedom.
//
// The difference of two log gammas, without the digits in which these cancel.
double log_norm(double a) {
    double gap = a * std::log1p(0.5 / a) - 0.5 + stirling_rest(a + 0.5);
    return gap - stirling_rest(a) - 0.5 * std::log(2.0 * std::numbers::pi);
}

// Of the incomplete beta function I_x(a, b), by a continued fraction.
//
// What is left to multiply with is x**a * y**b / B(a, b). The fraction is that of
// DiDonato and Morris (1992), its convergents from the recursion of Wallis, which has
// no divisions that wait for each other.
//
// x, y : with the sum 1; x below (a + 1) / (a + b + 2)
double beta_fraction(double x, double y, double a, double b) {
    double before = 1.0 / (a + 1.0);
    double top_1 = 1.0, top = a * (a * y - b * x + 1.0) * before;
    double bottom_1 = 0.0, bottom = 1.0;
    for (int term = 1; term < MOST_TERMS; ++term) {
        double m = term;
        double after = 1.0 / (a + 2.0 * m + 1.0);
        double common = m * (b - m) * x * before;
        double part = (a + m - 1.0) * (a + b + m - 1.0) * x * before * common;
        double whole =
            m + common + (a + m) * (a * y - b * x + 1.0 + m * (2.0 - x)) * after;
        std::tie(top_1, top) = std::tuple(top, whole * top + part * top_1);
        std::tie(bottom_1, bottom) =
            std::tuple(bottom, whole * bottom + part * bottom_1);
        double crossed = top * bottom_1;
        if (std::abs(crossed - top_1 * bottom) <= 2e-16 * std::abs(crossed)) break;
        if (std::abs(top) > 1e100)
            for (double* number : {&top_1, &top, &bottom_1, &bottom}) *number *= 1e-100;
        before = after;
    }
    return bottom / top;
}

// Distribution function and density of Student's t with 2a degrees of freedom.
//
// norm : log_norm(a)
std::tuple<double, double> student(double t, double a, double norm) {
    double ratio = t * t / (2.0 * a);
    if (ratio > 1e300) return {t < 0.0 ? 0.0 : 1.0, 0.0};
    double density = std::exp(norm - (a + 0.5) * std::log1p(ratio));
    double x = 1.0 / (1.0 + ratio);
    double front = 0.5 * density * std::abs(t), tail;
    if (x < (a + 1.0) / (a + 2.5))
        // What lies beyond: half the incomplete beta function I_x(a, 1/2).
        tail = front * beta_fraction(x, ratio * x, a, 0.5);
    else
        // What lies between 0 and t, half of I_{1 - x}(1/2, a), for the other half.
        tail = 0.5 - front * beta_fraction(ratio * x, x, 0.5, a);
    return {t < 0.0 ? tail : 1.0 - tail, density};
}

// Distribution function of Student's t with 2a degrees of freedom, one by one.
Vector<double> student_cdf(Numbers t, Numbers a) {
    Vector<double> found(t.size());
    for (Index i = 0; i < t.size(); ++i)
        found[i] = std::get<0>(student(t[i], a[i], log_norm(a[i])));
    return found;
}

// Parts m + scale t, t with 2a degrees of freedom; norm is log_norm(a).
struct Mixture {
    Numbers weight, m, a, scale, norm;
};

// Distribution function, density and its slope of a mixture at one number.
//
// Parts of a weight below least are left out, the others taken for the whole.
std::tuple<double, double, double> mixture_at(double y, double least,
                                              const Mixture& parts) {
    const auto& [weight, m, a, scale, norm] = parts;
    double total = 0.0, below = 0.0, density = 0.0, slope = 0.0;
    for (Index k = 0; k < weight.size(); ++k) {
        if (!(weight[k] > least)) continue;
        double t = (y - m[k]) / scale[k];
        auto [part, high] = student(t, a[k], norm[k]);
        high *= weight[k] / scale[k];
        total += weight[k];
        below += weight[k] * part;
        density += high;
        slope -= high * (2.0 * a[k] + 1.0) * t / ((2.0 * a[k] + t * t) * scale[k]);
    }
    if (least > 0.0) return {below / total, density / total, slope / total};
    return {below, density, slope};
}

// Where a mixture's distribution function is p, searched from y on.
//
// Halley's method; and halving, or steps of reach, which doubles, wherever it would
// leave what is known to hold the quantile or go further than that. Without parts of
// little weight a rough answer will do.
double mixture_quantile(double p, double y, double reach, double least,
                        const Mixture& parts) {
    double near = (least > 0.0 ? 1e-2 : 1e-5) * std::min(p, 1.0 - p);
    double low = -infinity, high = infinity;
    for (int step = 0; step < MOST_STEPS; ++step) {
        auto [below, density, slope] = mixture_at(y, least, parts);
        double gap = below - p;
        (gap >= 0.0 ? high : low) = y;
        double newton = density > 0.0 ? gap / density : not_a_number;
        double bend = 0.5 * newton * slope / density;
        double further = bend < 0.5 ? y - newton / (1.0 - bend) : y - newton;
        if (further == y || (std::abs(gap) <= near && std::abs(bend) <= 1e-2))
            // Each step leaves the third power of the gap before: this was the last.
            return further;
        // Where density is next to nothing, a step may lead anywhere.
        double least_y = std::max(low, y - reach), most_y = std::min(high, y + reach);
        if (!(least_y < further && further < most_y)) {
            if (low == -infinity || high == infinity)
                further = gap < 0.0 ? most_y : least_y;
            else
                further = low + 0.5 * (high - low);
            reach *= 2.0;
            if (!(low < further && further < high)) return high;
        }
        y = further;
    }
    return y;
}

// Quantiles of mixtures of m + t sqrt(b / a), t with 2a degrees of freedom.
//
// weight, m, a, b : (n_mixtures, n_parts)
// p : levels
// z : quantiles of the normal distribution at these levels, to start from
//
// Returns (n_mixtures, n_levels).
Matrix<double> mixture_quantiles(Table weight, Table m, Table a, Table b, Numbers p,
                                 Numbers z) {
    Index n = weight.size(0), n_parts = weight.size(1);
    Matrix<double> found({n, p.size()});
    Vector<double> norm(n_parts), scale(n_parts);
    for (Index i = 0; i < n; ++i) {
        double mean = 0.0, total = 0.0;
        for (Index k = 0; k < n_parts; ++k) {
            norm[k] = log_norm(a(i, k));
            scale[k] = std::sqrt(b(i, k) / a(i, k));
            mean += weight(i, k) * m(i, k);
            total += weight(i, k);
        }
        mean /= total;
        double reach = 0.0;
        for (Index k = 0; k < n_parts; ++k)
            reach += weight(i, k) / total * std::hypot(scale[k], m(i, k) - mean);
        Mixture parts{weight[i], m[i], a[i], scale, norm};
        double rough = ROUGH * weight(i, argmax(weight[i]));
        for (Index j = 0; j < p.size(); ++j) {
            double y = mean + z[j] * reach;
            for (double least : {rough, 0.0})
                y = mixture_quantile(p[j], y, reach, least, parts);
            found(i, j) = y;
        }
    }
    return found;
}

}  // namespace

void add_metatree_mixtures(nb::module_& module) {
    add_kernel(module, "student_cdf", &student_cdf);
    add_kernel(module, "mixture_quantiles", &mixture_quantiles);
}
