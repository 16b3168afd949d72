"""A notebook shows clusters, intervals and the promise of fitted models; reprs fit on a line."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn

from dpmorse import (
    Boolean,
    Date,
    DPMoGHard,
    DPMorse,
    MorseClustering,
    Nominal,
    Numeric,
    PrivateGaussianMixture,
)
from dpmorse.datasets import make_blobs, make_patient_table, make_patients

NASTY = "<script>alert(1)</script>"


class Cells(HTMLParser):
    """Texts of the cells of the first table, row by row, and whether all tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def model():
    X = pd.DataFrame(make_patients(20_000, random_state=1)[0], columns=["age", NASTY])
    bounds = {"age": (0, 110), NASTY: (60, 220)}
    return DPMorse(4, epsilon=2.0, bounds=bounds, rehearsals=2, random_state=0).fit(X)


@pytest.fixture(scope="module")
def table_model():
    columns = {
        "age": Numeric(0, 110),
        "ward": Nominal(["surgery", "medicine", "cardiology"]),
        "admitted": Date("2010-01-01", "2030-01-01"),
    }
    X = pd.DataFrame(make_patient_table(4000, random_state=1)[0])[list(columns)]
    return DPMorse(3, epsilon=2.0, columns=columns, rehearsals=0, random_state=0).fit(X)


def test_a_fitted_model_shows_the_numbers_of_its_summary(model):
    html = model._repr_mimebundle_()["text/html"]
    assert html == model._repr_html_()
    head, *rows = Cells(html).rows
    assert head == ["", "share", "age", NASTY]
    assert [row[0] for row in rows] == [f"cluster {i}" for i in range(4)]
    shares = model.summary().groupby("cluster").first()
    for row, (_, share) in zip(rows, shares.iterrows(), strict=True):
        value, low, high = (100 * share[name] for name in ("share", "share_low", "share_high"))
        found = 2 * round(share["again"])  # these lie far apart
        assert row[1] == f"{value:.1f} % ({low:.1f} to {high:.1f})found again in {found} of 2 rehearsals"
        median, low, high, q1, q3 = map(float, re.findall(r"[\d.]+", row[2]))
        for name, shown in (
            ("median", median),
            ("median_low", low),
            ("median_high", high),
            ("q1", q1),
            ("q3", q3),
        ):
            assert shown == pytest.approx(share[name], abs=0.05), name
        assert "half: " in row[2]


def test_the_promise_and_what_must_be_said_are_shown_and_names_are_escaped(model):
    html = model._repr_html_()
    assert "NOT SECURE" in html  # it was seeded
    assert "-differentially private" in html
    assert "Not covered: the labels" in html
    assert NASTY not in html


def test_what_found_again_means_is_said_where_it_is_known(model, table_model):
    assert "about repetition, not about truth" in model._repr_html_()
    assert "ound again" not in table_model._repr_html_()


def test_levels_are_shown_the_most_frequent_first(table_model):
    head, *rows = Cells(table_model._repr_html_()).rows
    assert head == ["", "share", "age", "ward", "admitted"]
    summary = table_model.summary()
    for cluster, row in enumerate(rows):
        levels = summary[(summary["cluster"] == cluster) & summary["level"].notna()]
        assert row[3].startswith(levels.sort_values("level_share")["level"].iloc[-1])


def test_dates_are_shown_as_dates(table_model):
    _, *rows = Cells(table_model._repr_html_()).rows
    days = table_model.summary().query("column == 'admitted'")
    for row, (_, known) in zip(rows, days.iterrows(), strict=True):
        names = ("median", "median_low", "median_high", "q1", "q3")
        shown = [str(np.datetime64("2010-01-01") + np.timedelta64(int(known[name]), "D")) for name in names]
        assert row[4] == "{} ({} to {})half: {} to {}".format(*shown)


def test_missing_values_are_shown_and_what_noise_hides_is_not_known():
    X = pd.DataFrame(make_patient_table(4000, random_state=1)[0])
    columns = {"age": Numeric(0, 110), "pressure": Numeric(60, 220, missing="ignore")}
    columns["ward"] = Nominal(["surgery", "medicine", "cardiology"], missing="ignore")
    model = DPMorse(2, 2, epsilon=3.0, columns=columns, random_state=0).fit(X[list(columns)])
    profile = model.base_.profile_
    small = model.component_labels_ == 1
    model.base_.profile_ = replace(
        profile,
        sizes=np.where(small, 1.0, profile.sizes),
        entries=np.where(small[:, None], 0.0, profile.entries),
    )
    html = model._repr_html_()
    _, known, hidden = Cells(html).rows
    summary = model.summary().query("cluster == 0").set_index("column")["missing"]
    assert "missing" not in known[2]
    for place, name in ((3, "pressure"), (4, "ward")):
        part = 100 * float(np.ravel(summary[name])[0])
        assert f"missing: {part:.1f} % (" in known[place]
    assert hidden[2:] == ["not known"] * 3
    assert not re.search(r"\bnan\b", html)


@pytest.mark.parametrize("bare", [True, False], ids=["without numbers", "with numbers"])
def test_models_without_a_profile_say_so(bare):
    X = pd.DataFrame(make_patient_table(2000, random_state=1)[0])
    columns = {"smoker": Boolean(missing="ignore")} | ({} if bare else {"age": Numeric(0, 110)})
    base = PrivateGaussianMixture(2, columns=columns, epsilon=1.0, profile=False, random_state=0)
    html = base.fit(X[list(columns)])._repr_html_()
    assert "there are no intervals" in html
    assert len(Cells(html).rows[0]) == (2 if bare else 3)


def test_many_columns_are_cut():
    X, _ = make_blobs(500, n_features=12, random_state=0)
    base = DPMoGHard(2, epsilon=5.0, bounds=(-20, 20), n_iter=1, random_state=0)
    html = MorseClustering(base, 1).fit(X)._repr_html_()
    assert len(Cells(html).rows[0]) == 10
    assert "4 more columns" in html


def test_unfitted_models_show_scikit_learn_s_diagram():
    assert "sk-container" in DPMorse(3, epsilon=1.0)._repr_mimebundle_()["text/html"]
    assert "sk-container" in DPMorse(3, epsilon=1.0)._repr_html_()


def test_where_text_is_wanted_there_is_no_html(model):
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_reprs_of_what_a_fit_releases_fit_on_a_line(model, table_model):
    tree, base = model.merge_tree_, model.base_
    for each in (
        *(tree, tree.critical_points, tree.graph, model.mixture_, base.profile_, model.table()),
        *(table_model.mixture_, table_model.base_.profile_, table_model.table(), model.privacy_),
    ):
        text = repr(each)
        assert len(text) < 160
        assert "\n" not in text
        assert text.startswith(type(each).__name__)
    assert f"{tree.n_leaves} leaves, {tree.n_modes} modes" in repr(tree)
    assert np.isclose(model.table().share.value[0], float(repr(model.table()).split()[1][:-1]), atol=1e-3)
