// Products and positive matrices: the same bits on every machine.
#include "_kernels.hpp"

using namespace clearwood;

namespace {

// The product of lines and columns, added from first to last.
Matrix<double> product(View<const double, 2> lines, View<const double, 2> columns) {
    Matrix<double> result({lines.size(0), columns.size(1)});
    for (Index i = 0; i < lines.size(0); ++i) {
        double* __restrict into = result[i].begin();
        for (Index k = 0; k < columns.size(0); ++k) {
            double number = lines(i, k);
            const double* line = columns[k].begin();
            for (Index j = 0; j < columns.size(1); ++j) into[j] += number * line[j];
        }
    }
    return result;
}

// The lower Cholesky factor; NaN in it where the matrix is not positive.
Matrix<double> cholesky_of(View<const double, 2> matrix) {
    Matrix<double> factor = copy_of(matrix);
    cholesky(factor);
    return factor;
}

}  // namespace

void add_numeric(nb::module_& module) {
    add_kernel(module, "cholesky_of", &cholesky_of);
    add_kernel(module, "log_diagonal", &log_diagonal);
    add_kernel(module, "solve_lower", &solve_lower);
    add_kernel(module, "solve_lower_all", &solve_lower_all);
    add_kernel(module, "solve_positive", &solve_positive);
    add_kernel(module, "product", &product);
}
