"""The page: what it may hold, what it may not, and that nothing hostile gets through."""

import base64
import hashlib
import html
import re

import numpy as np
import pandas as pd
import pytest

from dpmorse import DPMoGHard, DPMorse, DPTree, MorseClustering, load
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.morse import merge_tree
from dpmorse.report import render

HOSTILE = [
    "</script><script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b[0m\x07",
    "line\u2028and\u2029paragraph",
    "\u202ereversed",
    "half a character \ud800",
    "&lt;b&gt; $style ${data}",
    "-->" + "x" * 5000,
]


class Fitted:
    """The least that a page needs: a mixture and a promise; and a tree, where the default one takes long."""

    def __init__(self, mixture, privacy):
        self.mixture_, self.privacy_ = mixture, privacy
        if mixture.n_features > 20 or mixture.n_components > 20:
            self.merge_tree_ = merge_tree(mixture)


def text_of(page, tag):
    return re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)


@pytest.fixture(scope="module")
def promise(hard_model):
    return hard_model.privacy_


def test_a_page_of_the_default_estimator(default_model, embedded):
    page = render(default_model)
    data = embedded(page)
    for line in default_model.privacy_.statement.split("\n"):
        assert html.escape(line) in page
    assert "Not secure: seeded noise" in page
    assert data["n_clusters"] == 4
    assert len(data["cuts"]) == default_model.merge_tree_.n_leaves
    assert [column["name"] for column in data["columns"]] == ["column 0", "column 1"]
    for row in default_model.privacy_.to_dicts():
        assert f"<td>{row['release']}</td>" in page


@pytest.mark.parametrize(
    "base", [DPMoGHard(6, epsilon=4.0, bounds=(-1, 1), n_iter=3), DPTree(6, epsilon=4.0, bounds=(-1, 1))]
)
def test_a_page_of_any_base_under_the_morse_step_and_alone(base, blobs, embedded):
    model = MorseClustering(base, n_clusters=3).fit(blobs[0])
    assert embedded(render(model))["n_clusters"] == model.n_clusters_
    alone = embedded(render(model.base_))
    assert alone["n_clusters"] == alone["tree"]["suggested"]
    assert alone["tree"]["suggestion"].startswith(f"{alone['n_clusters']} cluster")
    assert len(alone["cuts"][0]) >= 6
    assert "Noise from the operating system" in render(model)


def test_a_page_is_a_function_of_the_released_model(default_model, hard_model, tmp_path):
    """What a file does not hold, the page cannot hold: the strongest of the canaries."""
    for model in (default_model, hard_model, hard_model.base_):
        model.save(tmp_path / "model.json")
        assert render(load(tmp_path / "model.json")) == render(model)
    assert render(hard_model) != render(hard_model, random_state=1)


@pytest.mark.parametrize("kind", [DPMorse, DPMoGHard])
def test_no_value_count_label_or_seed_of_the_data(kind, tmp_path):
    rng = np.random.default_rng(5)
    peculiar, n, seed = 0.123456789, 12_347, 987_654_321
    X = np.clip(rng.normal(0.1, 0.2, size=(n, 2)), -1, 1)
    X[: n // 2, 0] = peculiar
    model = kind(3, epsilon=1.0, bounds=(-1, 1), random_state=seed).fit(X)
    labels = model.predict(X)
    page = render(model)
    tokens = set(re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", page))
    assert str(peculiar) not in page
    assert not tokens & {repr(float(value)) for value in X.ravel()}
    exact_counts = {str(n), *map(str, np.bincount(labels)[np.bincount(labels) > 9999])}
    assert not tokens & exact_counts
    assert not any(share in page for share in (repr(float(np.mean(labels == k))) for k in range(3)))
    assert str(seed) not in page


def test_names_come_from_the_table_or_the_caller(embedded, rng):
    frame = pd.DataFrame(rng.uniform(-1, 1, size=(500, 2)), columns=["age", "pressure"])
    model = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(frame)
    assert [column["name"] for column in embedded(render(model))["columns"]] == ["age", "pressure"]
    renamed = embedded(render(model, columns=["Alter", "Größe"]))
    assert [column["name"] for column in renamed["columns"]] == ["Alter", "Größe"]


def test_hostile_names_stay_text(promise, embedded):
    mixture = GaussianMixture([0.5, 0.5], [[0.0] * 8, [1.0] * 8], np.tile(np.eye(8) * 0.1, (2, 1, 1)))
    page = render(Fitted(mixture, promise), columns=HOSTILE)
    page.encode()  # half a character could not be written
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)</script" not in page
    assert "<img" not in page
    assert not set("\x1b\x07\u2028\u2029\u202e") & set(page)
    names = [column["name"] for column in embedded(page)["columns"]]
    assert names[0] == HOSTILE[0], "the name itself is shown, as text"
    assert "\ufffd[31mred" in names[2]
    assert names[6] == HOSTILE[6], "the template does not look into what it is given"
    assert len(names[7]) == 120


def test_a_hostile_ledger_stays_text(promise):
    class Promise:
        epsilon, delta, neighboring, secure = 1.0, 0.0, "<b>", True
        statement = "<script>alert(2)</script>\nsecond"
        unit, claims = "<u>", {"<s>": "<script>alert(3)</script>"}

        def to_dicts(self):
            return [{"release": HOSTILE[0], "values": 3, "noise_stddev_<i>": 1.5}] * 700

    page = render(Fitted(GaussianMixture([1.0], [[0.0]], [[[1.0]]]), Promise()))
    assert page.count("<script") == 2
    assert not {"<b>", "<i>", "<u>", "<s>"} & set(re.findall(r"<\w+>", page))
    assert page.count("<td>&lt;/script&gt;") == 500
    assert "<td>and 200 more</td>" in page


def test_the_policy_allows_this_style_and_this_script_only(default_model):
    page = render(default_model)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    directives = dict(part.split(" ", 1) for part in html.unescape(policy).split("; "))
    (style,), (script,) = text_of(page, "style"), text_of(page, "script")
    assert directives["default-src"] == "'none'"
    for name, text in (("style-src", style), ("script-src", script)):
        assert (
            directives[name]
            == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        )
    assert directives["img-src"] == "data:"
    assert directives["base-uri"] == directives["form-action"] == "'none'"
    assert page.index("Content-Security-Policy") < page.index("<style>"), "a policy rules what follows it"


def test_nothing_refers_to_the_outside(default_model):
    page = render(default_model)
    assert not re.search(r"https?:|//\w+\.\w|@import|url\(|\bfetch\(|XMLHttp|WebSocket|sendBeacon", page)
    links = set(re.findall(r'\b(?:src|href|action)="([^"]*)"', page)) - {"data:,"}
    assert "#clusters" in links
    assert all(link.startswith("#") for link in links)
    anchors = set(re.findall(r'\bid="([^"]*)"', page))
    assert {link[1:] for link in links} <= anchors, "every word that is linked is explained"


def test_the_script_never_turns_text_into_markup(default_model):
    (script,) = text_of(render(default_model), "script")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser", script
    )
    assert not re.search(r"\bstyle\s*:|setAttribute\(\"style", script), "the policy would refuse it"


@pytest.mark.parametrize(("n_components", "n_features"), [(1, 1), (1, 2), (5, 1), (8, 60), (2, 90)])
def test_any_number_of_columns_fits_in_a_small_page(n_components, n_features, promise, embedded, rng):
    means = rng.normal(size=(n_components, n_features))
    covariances = np.tile(0.2 * np.eye(n_features), (n_components, 1, 1))
    weights = np.full(n_components, 1 / n_components)
    page = render(Fitted(GaussianMixture(weights, means, covariances), promise), n_samples=20_000)
    data = embedded(page)
    assert len(page) < 1_000_000
    assert len(data["columns"]) == min(n_features, 60)
    assert data["n_columns"] == n_features


def test_many_components_fit_in_a_small_page(promise, embedded):
    means = np.random.default_rng(0).uniform(-4, 4, size=(200, 3))
    covariances = np.tile(0.1 * np.eye(3), (200, 1, 1))
    page = render(Fitted(GaussianMixture(np.full(200, 0.005), means, covariances), promise))
    assert len(page) < 500_000
    assert len(embedded(page)["cuts"]) == 200


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_units_of_any_size(scale, promise, embedded):
    mixture = GaussianMixture([0.5, 0.5], [[0.0, 1.0], [2.0, 5.0]], np.tile(0.1 * np.eye(2), (2, 1, 1)))
    plain, scaled = (
        embedded(render(Fitted(m, promise))) for m in (mixture, mixture.affine([scale] * 2, [0, 0]))
    )
    assert scaled["components"]["means"][1][1] == pytest.approx(5 * scale, rel=1e-3)
    assert scaled["cuts"] == plain["cuts"]


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (
            DPMorse(),
            {},
            InvalidTypeError,
            "model must be a fitted estimator of dpmorse, got 'DPMorse'. Call fit",
        ),
        (None, {}, InvalidTypeError, "model must be a fitted estimator"),
        (..., {"columns": ["a"]}, InvalidParameterError, "one name for each of the 2 columns, got 1"),
        (..., {"columns": "ab"}, InvalidTypeError, "columns must be a list of names, got 'ab'"),
        (..., {"columns": [1, 2]}, InvalidTypeError, "columns must be names of type str"),
        (..., {"title": 5}, InvalidTypeError, "title must be text or None, got 5"),
        (..., {"dataset": ["a"]}, InvalidTypeError, "dataset must be text or None"),
        (..., {"made_on": "today"}, InvalidTypeError, "made_on must be a datetime.date or None"),
        (..., {"n_samples": 0}, InvalidParameterError, "n_samples must be between 1 and 20000"),
        (..., {"n_samples": 1e3}, InvalidTypeError, "n_samples must be an integer"),
        (..., {"random_state": "x"}, InvalidParameterError, "random_state must be a non-negative integer"),
        (..., {"random_state": -1}, InvalidParameterError, "random_state must be a non-negative integer"),
    ],
)
def test_bad_input(model, options, error, message, hard_model):
    with pytest.raises(error, match=re.escape(message)):
        render(hard_model if model is ... else model, **options)


def test_how_often_clusters_are_found_again(default_model, hard_model, embedded):
    """Every cut has its own words, the number has those of the model; without rehearsals nothing is said."""
    data = embedded(render(default_model))
    assert [len(words) for words in data["again"]] == [k + 1 for k in range(len(data["cuts"]))]
    for k, words in enumerate(data["again"], start=1):
        again = default_model.cut(k).summary(library="pandas").groupby("cluster")["again"].first()
        assert all("2 of 2" in each for each, value in zip(words, again, strict=True) if value > 0.9)
    assert data["tree"]["suggestion"] == str(default_model.suggestion_)
    assert "of 2 rehearsals" in data["tree"]["suggestion"]
    silent = embedded(render(hard_model))
    assert not any(silent["again"])
    assert silent["tree"]["suggestion"] == hard_model.merge_tree_.suggestion.in_words
