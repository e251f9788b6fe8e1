"""Sums over statements: prefix sums along the bins where they are nested.

Numeric statements are sorted by feature, then by ``first_true``. Bin ``b`` of a
feature lies where every statement with ``first_true <= b`` is true and every other is
false.
"""

import numpy as np

from clearwood._numeric import kernel


@kernel
def add_numeric_statements(
    table,
    bin_start,
    n_bins,
    feature,
    first_true,
    missing_true,
    when_true,
    when_false,
):
    """Add to ``table[bin]`` the value of every statement of the bin's feature."""
    n_columns = table.shape[1]
    running = np.zeros(n_columns)
    begin = 0
    while begin < len(feature):
        d = feature[begin]
        end = begin
        while end < len(feature) and feature[end] == d:
            end += 1
        base = bin_start[d]
        missing = n_bins[d] - 1
        # True statements accumulate upwards, false ones downwards. All terms of a
        # sum have one sign when they are logarithms, so nothing cancels.
        running[:] = 0.0
        statement = begin
        for b in range(missing):
            while statement < end and first_true[statement] <= b:
                for k in range(n_columns):
                    running[k] += when_true[statement, k]
                statement += 1
            for k in range(n_columns):
                table[base + b, k] += running[k]
        running[:] = 0.0
        statement = end - 1
        for b in range(missing - 1, -1, -1):
            while statement >= begin and first_true[statement] > b:
                for k in range(n_columns):
                    running[k] += when_false[statement, k]
                statement -= 1
            for k in range(n_columns):
                table[base + b, k] += running[k]
        for statement in range(begin, end):
            for k in range(n_columns):
                if missing_true[statement]:
                    table[base + missing, k] += when_true[statement, k]
                else:
                    table[base + missing, k] += when_false[statement, k]
        begin = end


@kernel
def sum_numeric_statements(
    true_mass,
    false_mass,
    bin_start,
    n_bins,
    feature,
    first_true,
    missing_true,
    histogram,
):
    """Mass of the bins in which each statement is true, and is false."""
    n_columns = histogram.shape[1]
    running = np.zeros(n_columns)
    begin = 0
    while begin < len(feature):
        d = feature[begin]
        end = begin
        while end < len(feature) and feature[end] == d:
            end += 1
        base = bin_start[d]
        missing = n_bins[d] - 1
        running[:] = 0.0
        b = 0
        for statement in range(begin, end):
            while b < first_true[statement]:
                for k in range(n_columns):
                    running[k] += histogram[base + b, k]
                b += 1
            for k in range(n_columns):
                false_mass[statement, k] = running[k]
        running[:] = 0.0
        b = missing - 1
        for statement in range(end - 1, begin - 1, -1):
            while b >= first_true[statement]:
                for k in range(n_columns):
                    running[k] += histogram[base + b, k]
                b -= 1
            for k in range(n_columns):
                true_mass[statement, k] = running[k]
        for statement in range(begin, end):
            for k in range(n_columns):
                if missing_true[statement]:
                    true_mass[statement, k] += histogram[base + missing, k]
                else:
                    false_mass[statement, k] += histogram[base + missing, k]
        begin = end


@kernel
def add_category_statements(
    table, bin_start, feature, truth, borders, when_true, when_false
):
    """As ``add_numeric_statements``, bin by bin."""
    n_columns = table.shape[1]
    for statement in range(len(feature)):
        base = bin_start[feature[statement]] - borders[statement]
        for i in range(borders[statement], borders[statement + 1]):
            for k in range(n_columns):
                if truth[i]:
                    table[base + i, k] += when_true[statement, k]
                else:
                    table[base + i, k] += when_false[statement, k]


@kernel
def sum_category_statements(
    true_mass, false_mass, bin_start, feature, truth, borders, histogram
):
    """As ``sum_numeric_statements``, bin by bin."""
    n_columns = histogram.shape[1]
    for statement in range(len(feature)):
        base = bin_start[feature[statement]] - borders[statement]
        for i in range(borders[statement], borders[statement + 1]):
            for k in range(n_columns):
                if truth[i]:
                    true_mass[statement, k] += histogram[base + i, k]
                else:
                    false_mass[statement, k] += histogram[base + i, k]
