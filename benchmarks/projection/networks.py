"""Proxies of a network, early and fully trained: figure 2 of Afrabandpey et al. (2020).

Usage: python -m benchmarks.projection.networks [--quick] [--fresh] [--tables]

The package torch must be installed. A convolutional network with dropout classifies
threes and eights of scikit-learn's digits, early in training and fully trained; its
draws are projected onto logistic regressions of the pixels, near one digit at a time.
"""

from functools import lru_cache, partial

import numpy as np
from sklearn.datasets import load_digits

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.papers.figures import save
from clearwood.references import dropout_reference

EPOCHS = {"early": 2, "fully trained": 40}
DROPOUT, N_DRAWS = 0.2, 20
"""As in the paper, section 2.3.1."""
N_NETWORKS, N_DIGITS, N_NEIGHBOURS = 5, 10, 400
SPREAD = 1.0
"""Standard deviation of neighbours, in those of the pixels."""
SIDE = 8
MEASURES = {
    "accuracy": "test accuracy",
    "smoothness": "smoothness of the mean",
    "variance": "variance over squared mean",
    "magnitude": "share of it in magnitude",
    "fidelity": "fidelity",
}
NOTES = f"""\
Five networks of two convolutions (16 and 32 channels, 3 x 3) and a hidden layer of 64,
each with dropout of {DROPOUT}, and {N_DRAWS} draws, as in the paper; early is after two
passes over the training rows, fully trained after 40. The digits are the 357 threes and
eights of scikit-learn, of 8 x 8 pixels, in place of MNIST, two thirds of them for
training. Each of ten test digits has {N_NEIGHBOURS} neighbours: normal noise with the
standard deviation of each pixel. The proxy is a
`ProjectedLogisticRegression(alpha=1.0)`, with coefficients for each draw.

- Smoothness: Moran's I of the mean coefficients, 1 where neighbouring pixels are equal
  and about 0 for noise.
- Variance over squared mean: variance of the coefficients between draws, summed over
  the pixels, over the sum of the squared means.
- Share of it in magnitude: the part of that variance along the mean coefficients, in
  which all pixels grow and shrink together.
- Fidelity: `fidelity_` of the proxy, on the neighbours.

Means and standard deviations over networks and digits.

## Summary

- **The explanations agree with the paper's figure**: the left side of a three is
  open and its lower right is not, in the mean and in the draws that are shown.
- **They become neither smoother nor less variable by training**, unlike in the paper,
  where a network early in training has noisy, uncertain ones. With so few pixels, two
  passes are enough for an accuracy of 0.91 and for smooth explanations. For a fully
  trained network the proxies of some digits have a low fidelity, and their
  coefficients are noisy.
- **About half of the variance between draws is in magnitude**, at both stages; in the
  paper most of it is, in the fully trained network."""


def main():
    options = arguments(__doc__, tables="only the page, from existing rows")
    study = Study("projection_networks", ["network", "stage", "digit"], options)
    n_networks = 1 if options.quick else N_NETWORKS
    if not options.tables:
        study.run(
            {
                (seed, stage, digit): partial(scores, seed, stage, digit)
                for seed in range(n_networks)
                for stage in EPOCHS
                for digit in range(N_DIGITS)
            },
            warm=lambda: None,
        )
    write_table(study)


@lru_cache
def digits():
    """Threes and eights: training images and labels, test images and labels."""
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    X, y = X[kept] / 16, (y[kept] == 8).astype(int)
    is_test = np.arange(len(y)) % 3 == 0
    return X[~is_test], y[~is_test], X[is_test], y[is_test]


@lru_cache(maxsize=2 * N_NETWORKS)
def trained(seed, stage):
    """A network as a reference, by Monte Carlo dropout."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Unflatten(1, (1, SIDE, SIDE)),
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Dropout2d(DROPOUT),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Dropout2d(DROPOUT),
        nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * (SIDE // 2) ** 2, 64), nn.ReLU(),
        nn.Dropout(DROPOUT), nn.Linear(64, 1),
    )  # fmt: skip
    X, y = (torch.tensor(part, dtype=torch.float32) for part in digits()[:2])
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    loss = nn.BCEWithLogitsLoss()
    for _ in range(EPOCHS[stage]):
        for rows in torch.randperm(len(X)).split(32):
            optimizer.zero_grad()
            loss(network(X[rows])[:, 0], y[rows]).backward()
            optimizer.step()
    return dropout_reference(
        network, n_draws=N_DRAWS, classes=["three", "eight"], random_state=seed
    )


def explained(seed, stage, digit):
    """Coefficients (n_draws, n_pixels) for an eight, near a digit; the proxy."""
    X, _, X_test, _ = digits()
    rng = np.random.default_rng(digit)
    noise = SPREAD * X.std(axis=0) * rng.normal(size=(N_NEIGHBOURS, X.shape[1]))
    near = (X_test[digit] + noise).clip(0, 1)
    proxy = cw.ProjectedLogisticRegression(trained(seed, stage), alpha=1.0).fit(near)
    coef = np.zeros((N_DRAWS, X.shape[1]))
    coef[:, proxy.terms_.feature] = proxy.coef_draws_[:, 0]
    return coef, proxy


def smoothness(image):
    """Moran's I over the pixels' four neighbours."""
    image = image.reshape(SIDE, SIDE) - image.mean()
    pairs = image[1:] * image[:-1], image[:, 1:] * image[:, :-1]
    return float(np.mean([pair.mean() for pair in pairs]) / image.var())


def scores(seed, stage, digit):
    """One row: measures of the explanation of one digit."""
    coef, proxy = explained(seed, stage, digit)
    _, _, X_test, y_test = digits()
    mean = coef.mean(axis=0)
    predicted = trained(seed, stage).mean_and_variance(X_test)[0].argmax(axis=1)
    along = coef @ mean / np.linalg.norm(mean)
    return [
        {
            "accuracy": float(np.mean(predicted == y_test)),
            "smoothness": smoothness(mean),
            "variance": float(coef.var(axis=0).sum() / (mean**2).sum()),
            "magnitude": float(along.var() / coef.var(axis=0).sum()),
            "fidelity": float(proxy.fidelity_),
        }
    ]


def figure_2(study, digit=0):
    """The digit, mean and variance of its explanation, and those of three draws."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 6, figsize=(10, 3.7), layout="constrained")
    for row, stage in zip(axes, EPOCHS):
        coef, _ = explained(0, stage, digit)
        # Red is for a three, as in the paper.
        parts = [-coef.mean(axis=0), *-coef[:3]]
        most = np.abs(parts).max()
        row[0].imshow(digits()[2][digit].reshape(SIDE, SIDE), cmap="Greys")
        row[0].set_ylabel(stage)
        row[2].imshow(coef.var(axis=0).reshape(SIDE, SIDE), cmap="Greys")
        for ax, part in zip((row[1], *row[3:]), parts):
            ax.imshow(part.reshape(SIDE, SIDE), cmap="RdBu_r", vmin=-most, vmax=most)
    titles = ("the digit", "mean", "variance", "draw 1", "draw 2", "draw 3")
    for ax, title in zip(axes[0], titles):
        ax.set_title(title, fontsize=10)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    path = study.csv.with_name(f"{study.csv.stem}.png")
    save(figure, path)
    return path


def write_table(study):
    frame = study.frame()
    rows = [
        [stage, *(mean_and_sd(part[measure], 2) for measure in MEASURES)]
        for stage, part in frame.groupby("stage")
    ]
    study.write_markdown(
        "Proxies of a network near digits",
        NOTES,
        markdown_table(["", *MEASURES.values()], rows),
        f"![Explanations of one digit]({figure_2(study).name})",
        "Coefficients of the pixels: red for a three, blue for an eight, one scale per "
        "line; variance on a scale of its own.",
    )


if __name__ == "__main__":
    main()
