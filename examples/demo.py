"""Rules of a random forest on scikit-learn's breast cancer data.

Usage: python examples/demo.py [FOLDER]

Prints the rules and their scores and writes FOLDER/report.html (default: demo).
"""

import sys
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw


def main(folder: Path) -> None:
    """Train a forest, explain it and write the report."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    forest = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)
    nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
    print(f"A forest of {len(forest.estimators_)} trees with {nodes:,} nodes:")
    print(f"  test accuracy {forest.score(X_test, y_test):.3f}\n")

    few = cw.RuleListClassifier(forest, max_rules=10, random_state=0)
    few.fit(X_train, pd.Series(y_train, name="diagnosis"))
    print("Rules fitted to its predictions:")
    print(few.rules_)
    print("\nOn test data:")
    print(few.rules_.evaluate(X_test, y_test, model=forest))

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    cw.report(few, path, X=X_test, y=y_test, overwrite=True)
    print(f"\nReport: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
