"""Six tables whose reports must be fit to be published: small and large, narrow and wide, with and without clusters."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dpmorse import Boolean, Date, DPMorse, Nominal, Numeric, Ordinal
from dpmorse.datasets import make_patient_table, make_patients

PARTIES = (
    "Strong Democrat",
    "Weak Democrat",
    "Independent, leaning to the Democrats",
    "Independent",
    "Independent, leaning to the Republicans",
    "Weak Republican",
    "Strong Republican",
)
DEGREES = (
    "First to eighth grade only",
    "Some high school, no diploma",
    "High-school diploma",
    "Some college, no degree",
    "Associate degree or vocational",
    "College degree",
    "Master's degree or doctorate",
)


def _fitted(frame, columns, n_clusters, epsilon):
    model = DPMorse(n_clusters, epsilon=epsilon, columns=columns, rehearsals=0, random_state=0)
    return model.fit(frame)


def demo():
    """Age and blood pressure of 20,000 invented patients."""
    frame = pd.DataFrame(make_patients(20_000, random_state=1)[0], columns=["age", "pressure"])
    return _fitted(frame, {"age": Numeric(0, 110), "pressure": Numeric(60, 220)}, 4, 1.0)


def table():
    """The same with categories, dates, labels and units."""
    columns = {
        "age": Numeric(0, 110, unit="years"),
        "pressure": Numeric(60, 220, missing="ignore", label="blood pressure", unit="mmHg"),
        "sex": Nominal(["female", "male"]),
        "smoker": Boolean(missing="ignore"),
        "ward": Nominal(["surgery", "medicine", "cardiology"]),
        "admitted": Date("2010-01-01", "2030-01-01"),
    }
    return _fitted(pd.DataFrame(make_patient_table(20_000, random_state=1)[0]), columns, 4, 1.0)


def clinical():
    """569 records of 30 columns, of which noise hides most."""
    frame = load_breast_cancer(as_frame=True).data
    columns = {name: Numeric(0, round(2 * frame[name].mean() + 1)) for name in frame}
    return _fitted(frame, columns, 6, 4.0)


def survey():
    """A survey whose questions and answers have long names."""
    rng, n = np.random.default_rng(3), 4000
    party = rng.integers(0, 7, n)
    question = "party identification at the time of the interview"
    degree = np.clip(np.rint(rng.normal(2 + 0.4 * party, 1.3)), 0, 6).astype(int)
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(45 + 2 * party, 14), 18, 95),
            question: np.array(PARTIES, dtype=object)[party],
            "highest education reached": np.array(DEGREES, dtype=object)[degree],
            "vote": np.where(party + rng.normal(0, 1, n) > 3, "Dole", "Clinton"),
            "days of news on television in the past week": rng.integers(0, 8, n),
        }
    )
    kinds = (
        Numeric(18, 95, unit="years"),
        Nominal(PARTIES),
        Ordinal(DEGREES),
        Nominal(["Clinton", "Dole"]),
        Numeric(0, 7, integer=True, unit="days"),
    )
    return _fitted(frame, dict(zip(frame, kinds, strict=True)), 4, 4.0)


def wide():
    """40 columns, of which 15 are categories; all may be missing."""
    rng, n = np.random.default_rng(0), 6000
    group, values, columns = rng.integers(0, 4, n), {}, {}
    for i in range(25):
        name = f"measurement number {i}"
        values[name] = rng.normal(size=n) + (group == i % 4) * rng.uniform(0.5, 3)
        values[name][rng.random(n) < 0.1] = np.nan
        columns[name] = Numeric(-6, 8, missing="ignore")
    for i in range(15):
        levels = [f"answer {letter} of question {i}" for letter in "abcdefghijkl"[: 3 + i % 9]]
        chosen = np.where((group == i % 4) & (rng.random(n) < 0.7), 0, rng.integers(0, len(levels), n))
        values[f"question {i}"] = np.array(levels, dtype=object)[chosen]
        values[f"question {i}"][rng.random(n) < 0.08] = None
        columns[f"question {i}"] = Nominal(levels, missing="ignore")
    return _fitted(pd.DataFrame(values), columns, 4, 4.0)


def noise():
    """60 records without any clusters."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    return _fitted(frame, {"a": Numeric(-3, 3), "b": Numeric(-3, 3)}, 3, 1.0)


SIX = {"demo": demo, "table": table, "clinical": clinical, "survey": survey, "wide": wide, "noise": noise}
