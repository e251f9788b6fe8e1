"""The slow twins: rates and areas counted row by row, pair by pair."""


def share(hits, weights):
    total = sum(weights)
    return sum(w for hit, w in zip(hits, weights) if hit) / total if total else None


def rates(true, called, weights):
    """Sensitivity, specificity, PPV and NPV of a class, as True and False."""

    def among(kept, hits):
        pairs = [(h, w) for k, h, w in zip(kept, hits, weights) if k]
        return share([h for h, _ in pairs], [w for _, w in pairs])

    def not_(flags):
        return [not flag for flag in flags]

    return {
        "base_rate": share(true, weights),
        "sensitivity": among(true, called),
        "specificity": among(not_(true), not_(called)),
        "positive_value": among(called, true),
        "negative_value": among(not_(called), not_(true)),
    }


def area(p, true, weights):
    """Of all pairs of a row of the class and another, those in order."""
    right = total = 0.0
    for p_one, is_one, w_one in zip(p, true, weights):
        for p_other, is_other, w_other in zip(p, true, weights):
            if is_one and not is_other:
                total += w_one * w_other
                right += w_one * w_other * ((p_one > p_other) + (p_one == p_other) / 2)
    return right / total
