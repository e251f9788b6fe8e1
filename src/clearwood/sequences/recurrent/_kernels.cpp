// The loop over time that a cell of an LSTM needs.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

// c_t = keep_t c_{t-1} + fresh_t for every step and unit, from first on.
//
// keep, fresh : (steps, units); first : (units,)
template <typename Real>
Matrix<Real> cell_values(View<const Real, 2> keep, View<const Real, 2> fresh,
                         View<const Real, 1> first) {
    Matrix<Real> values = copy_of(fresh);
    View<const Real, 1> before = first;
    for (Index t = 0; t < values.size(0); ++t) {
        View<Real, 1> now = values[t];
        for (Index unit = 0; unit < now.size(); ++unit)
            now(unit) = keep(t, unit) * before(unit) + now(unit);
        before = now;
    }
    return values;
}

}  // namespace

void add_sequences_recurrent(nb::module_& module) {
    add_kernel(module, "cell_values", &cell_values<float>);
    add_kernel(module, "cell_values", &cell_values<double>);
}
