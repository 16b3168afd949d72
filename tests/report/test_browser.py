"""The page in a real browser: a headless Chromium, wherever one is found.

Playwright's own (``playwright install chromium-headless-shell``) or one of the system's; without either these
tests are skipped.
"""

import csv
import os
import re
import shutil
from itertools import pairwise

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from dpmorse.profiles import ClusterView
from dpmorse.report import write_report
from dpmorse.report.noise import noise_of_last_release
from needed import skip_or_fail
from six_tables import SIX
from table_models import table_model

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = pytest.mark.long

SYSTEM_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)> \u2028 \x1b[31m"]


def launch(chromium):
    """Start Playwright's browser or the system's, or say why there is none."""
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    found = [path for name in SYSTEM_BROWSERS if (path := shutil.which(name))]
    reasons = []
    for path in (None, *found):
        try:
            return chromium.launch(executable_path=path, args=options)
        except playwright.Error as error:
            reasons.append(str(error).split("\n")[0])
    return skip_or_fail(f"no Chromium could be started: {'; '.join(reasons)}")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = launch(driver.chromium)
        yield started
        started.close()


class Visit:
    """A page that is open, and everything it did that it should not have done."""

    def __init__(self, page, path):
        self.page, self.wrongs, self.requests = page, [], []
        page.on("console", lambda message: self.wrongs.append(message.text))
        page.on("pageerror", lambda error: self.wrongs.append(str(error)))
        page.on("dialog", lambda dialog: (self.wrongs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())

    def rows(self):
        return self.page.locator("#cluster-table tbody tr").all_inner_texts()

    def colours(self, selector, attribute):
        marks = self.page.locator(selector)
        return set(marks.evaluate_all(f"marks => marks.map((mark) => mark.getAttribute('{attribute}'))"))

    def picture(self):
        return self.page.evaluate("document.getElementById('density').toDataURL()")

    def technical(self):
        """Open what is folded."""
        self.page.evaluate("document.getElementById('technical').open = true")
        self.settle()

    def settle(self):
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )


@pytest.fixture
def visit(browser, tmp_path):
    """Write a report, open it, and see afterwards that nothing was asked for and nothing went wrong."""
    contexts, visits = [], []

    def go(model, *, context=None, **options):
        path = tmp_path / f"page-{len(visits)}.html"
        write_report(model, path, **options)
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **(context or {})})
        )
        visits.append(Visit(contexts[-1].new_page(), path))
        return visits[-1]

    yield go
    for made in visits:
        assert made.wrongs == []
        assert len(made.requests) == 1, made.requests
    for context in contexts:
        context.close()


class Fitted:
    def __init__(self, mixture, privacy):
        self.mixture_, self.privacy_ = mixture, privacy
        self.merge_tree_ = merge_tree(mixture)


def number(text):
    return float(re.sub(r"[^\d.e-]", "", text.replace("\u2212", "-")))


NOT_A_NUMBER = re.compile(r"\b(NaN|null|undefined|Infinity)\b|\[object")


def assert_readable(seen):
    """No text of the page, no name of a picture and no place in one is what a script makes of nothing."""
    assert not NOT_A_NUMBER.search(seen.page.inner_text("main"))
    drawn = seen.page.locator("main svg").evaluate_all("nodes => nodes.map((node) => node.outerHTML)")
    assert not any(NOT_A_NUMBER.search(svg) for svg in drawn)


def expected(model, k):
    """Return the clusters of a model without a profile, straight from the mixture."""
    labels = model.merge_tree_.cut(k)[: model.mixture_.n_components]
    return ClusterView.of_mixture(model.mixture_, labels, model.base_.schema_)


def test_moving_the_slider_changes_clusters_table_and_colours(visit, default_model):
    seen = visit(default_model)
    assert len(seen.rows()) == 4
    assert len(seen.colours("#dendrogram .leaf", "fill")) == 4
    assert len(seen.colours(".profile-dot", "fill")) == 4
    before, legend = seen.picture(), seen.page.inner_text("#legend")
    seen.page.focus("#k")
    seen.page.keyboard.press("ArrowRight")
    seen.settle()
    assert seen.page.input_value("#k-number") == "5"
    assert len(seen.rows()) == 5
    assert len(seen.colours("#dendrogram .leaf", "fill")) == 5
    assert len(seen.colours(".profile-dot", "fill")) == 5
    assert seen.picture() != before
    assert seen.page.inner_text("#legend") != legend
    assert "5 groups" in seen.page.inner_text("#announcement")
    seen.page.keyboard.press("Home")
    seen.settle()
    seen.technical()
    seen.page.check("#show-points")
    seen.settle()
    assert len(seen.rows()) == len(seen.colours("#overlay .mode", "fill")) == 1


@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_table_shows_what_the_model_says(visit, default_model, k):
    """Values and both ends of their intervals are those of ``table``, as far as they can be seen."""
    seen = visit(default_model)
    seen.page.fill("#k-number", str(k))
    seen.page.keyboard.press("Tab")
    seen.settle()
    table = default_model.table(k)
    assert len(seen.rows()) == k
    cells = seen.page.locator("#cluster-table tbody tr td:has(.interval)")
    texts = zip(
        cells.locator(".value").all_inner_texts(), cells.locator(".interval").all_inner_texts(), strict=True
    )
    shown = np.array([[number(value), *map(number, ends.split(" to "))] for value, ends in texts])
    shown = shown.reshape(k, 3, 3)
    for found, estimate in (
        (shown[:, 0], table.share),
        (shown[:, 1], table.median[:, 0]),
        (shown[:, 2], table.median[:, 1]),
    ):
        unit = 100 if estimate is table.share else 1
        exact = unit * np.column_stack([estimate.value, estimate.low, estimate.high])
        assert np.all(np.abs(found - exact) <= 0.06 * (exact[:, [2]] - exact[:, [1]]))
    halves = [row.split("\t")[i] for row in seen.rows() for i in (-3, -1)]
    found = np.reshape([list(map(number, half.split(" to "))) for half in halves], (k, 2, 2))
    assert np.all(np.abs(found[..., 0] - table.q1.value) <= 0.06 * (table.q1.high - table.q1.low))
    assert np.all(np.abs(found[..., 1] - table.q3.value) <= 0.06 * (table.q3.high - table.q3.low))
    assert "records at hand" in seen.page.inner_text("#cluster-caption")
    assert not seen.page.is_visible("#records")
    assert_readable(seen)


def test_the_medians_of_the_page_are_those_of_the_summary(visit, default_model):
    seen = visit(default_model, columns=["a", "b"])
    shown = [
        number(text) for text in seen.page.locator("#cluster-table tbody td.start .value").all_inner_texts()
    ]
    summary = default_model.summary(library="pandas")
    medians = np.reshape(shown, (4, 3))[:, 1:].ravel()
    assert np.all(
        np.abs(medians - summary["median"]) <= 0.06 * (summary["median_high"] - summary["median_low"])
    )


def test_notes_are_beside_the_numbers_and_can_be_read(visit, doubtful_model):
    seen = visit(doubtful_model, columns=["age", "income"])
    marks = seen.page.locator("#cluster-table .mark")
    notes = seen.page.locator("#notes li").all_text_contents()
    assert len(notes) == 3
    for i in range(marks.count()):
        mark = marks.nth(i)
        text = notes[int(mark.inner_text()) - 1]
        assert mark.get_attribute("aria-label").endswith(text)
        assert mark.get_attribute("href") == f"#note-{mark.inner_text()}"
    rows = seen.page.locator("#cluster-table tbody tr")
    assert rows.nth(0).locator(".mark").count() == 0
    assert "'age', 'income' are not known" in rows.nth(1).locator("th .mark").get_attribute("aria-label")
    assert "may be noise" in rows.nth(2).locator("td:nth-child(3) .mark").get_attribute("aria-label")
    head = seen.page.locator("#cluster-table thead .mark").get_attribute("aria-label")
    assert "lie above its upper bound and were moved to it" in head
    assert seen.page.inner_text("#cautions-count") == "3 cautions about these numbers"
    assert not seen.page.is_visible("#notes"), "folded"
    doubts = [
        "cluster may be noise" in text
        for text in seen.page.locator("#mode-table tbody tr").all_text_contents()
    ]
    assert sorted(doubts) == [False, False, True], "a certified mode of a cluster that may be noise"
    seen.page.fill("#k-number", "1")
    seen.settle()
    assert seen.page.locator("#notes li").count() == 1, "of a column"


def test_what_noise_hides_is_said_to_be_not_known(visit, doubtful_model):
    """Of a cluster that may be noise its share is shown, and nothing else; a line needs a median."""
    seen = visit(doubtful_model)
    known, hidden, noise = (row.split("\t") for row in seen.rows())
    assert "not known" not in known
    assert [hidden[4], hidden[6]] == ["not known"] * 2
    assert re.match(r"[\d.]+ %", noise[2].strip())
    assert noise[4:] == ["not known"] * 4
    assert seen.page.locator(".profile-dot").count() == 2
    assert seen.page.locator(".whisker").count() == 2
    said = seen.page.locator("#sentences li").all_inner_texts()
    assert said[1].endswith("no column stands out from the noise.")
    assert "may be noise" in said[2]
    assert seen.page.inner_text("#headline").endswith(", one of which may be noise")
    assert_readable(seen)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_without_a_profile_the_table_shows_what_the_mixture_says(visit, bare_model, k):
    seen = visit(bare_model)
    assert "no intervals" in seen.page.inner_text("#cluster-caption")
    assert seen.page.locator(".interval, .mark, .whisker").count() == 0
    seen.page.fill("#k-number", str(k))
    seen.page.keyboard.press("Tab")
    seen.settle()
    rows, view = [row.split("\t") for row in seen.rows()], expected(bare_model, k)
    assert [number(row[0]) for row in rows] == list(range(k))
    assert [number(row[2]) for row in rows] == pytest.approx(100 * view.share.value, abs=0.06)
    for j, column in enumerate(view.columns):
        assert [number(row[4 + 2 * j]) for row in rows] == pytest.approx(column.median.value, abs=6e-3)
        halves = np.array([list(map(number, row[5 + 2 * j].split(" to "))) for row in rows])
        assert halves == pytest.approx(np.column_stack([column.q1.value, column.q3.value]), abs=6e-3)
    assert_readable(seen)


@pytest.mark.parametrize("name", ["bare_model", "hard_model"])
def test_the_noise_beside_each_size(visit, name, request):
    """In records, and, where the reader enters their number, in percent."""
    model = request.getfixturevalue(name)
    seen = visit(model)
    mixture, labels = model.mixture_, model.component_labels_
    noise = noise_of_last_release(model.base_, mixture, model.base_.domain_)
    of_sizes = [np.linalg.norm(noise[(labels == c) & (mixture.weights > 0)]) for c in range(4)]
    shown = [number(row.split("\t")[3]) for row in seen.rows()]
    assert shown == pytest.approx(of_sizes, rel=0.06)
    seen.page.fill("#records", "100000")
    seen.settle()
    cells, share = seen.rows()[0].split("\t"), expected(model, 4).share.value[0]
    assert number(cells[3]) == pytest.approx(100_000 * share, rel=0.01)
    of_others = np.linalg.norm(noise[mixture.weights > 0]) ** 2 - of_sizes[0] ** 2
    of_share = np.sqrt((1 - share) ** 2 * of_sizes[0] ** 2 + share**2 * of_others) / 1000
    records, percent = cells[4].split(" (")
    assert number(records) == pytest.approx(of_sizes[0], rel=0.06)
    assert number(percent) == pytest.approx(of_share, rel=0.06)


def test_a_click_on_the_tree_cuts_it_there(visit, default_model):
    seen = visit(default_model)
    seen.technical()
    drawn = seen.page.locator("#dendrogram")
    box = drawn.bounding_box()
    drawn.click(position={"x": box["width"] / 2, "y": 3})
    seen.settle()
    assert len(seen.rows()) == 1
    drawn.click(position={"x": box["width"] / 2, "y": 0.9 * box["height"]})
    seen.settle()
    assert len(seen.rows()) == default_model.merge_tree_.n_leaves


def test_nonsense_in_the_number_field_changes_nothing_for_good(visit, default_model):
    seen = visit(default_model)
    most = default_model.merge_tree_.n_leaves
    for typed, wanted in (("", 4), ("0", 4), ("-3", 4), ("9999", most), ("2.4", 2)):
        seen.page.fill("#k-number", typed)
        seen.page.locator("#k-number").blur()
        seen.settle()
        assert len(seen.rows()) == wanted
        assert seen.page.input_value("#k-number") == str(wanted)


def test_light_dark_and_the_button_between_them(visit, default_model):
    seen = visit(default_model, context={"color_scheme": "dark"})
    background = "getComputedStyle(document.body).backgroundColor"
    dark, picture = seen.page.evaluate(background), seen.picture()
    seen.page.focus("#theme")
    assert seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert seen.page.evaluate(background) != dark
    assert seen.picture() != picture
    assert seen.page.get_attribute("#theme", "aria-pressed") == "false"


def test_any_pair_of_axes_can_be_chosen(visit, hard_model):
    means = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, 9.0]])
    model = Fitted(GaussianMixture([0.6, 0.4], means, np.tile(np.eye(3), (2, 1, 1))), hard_model.privacy_)
    seen = visit(model, columns=["a", "b", "c"])
    assert "Principal direction 1" in seen.page.locator("#view-x option:checked").inner_text()
    before = seen.picture()
    seen.page.select_option("#view-x", label="c")
    seen.page.select_option("#view-y", label="a")
    seen.settle()
    assert seen.picture() != before
    seen.page.select_option("#view-x", label="a")
    seen.settle()
    assert seen.page.locator("#view-y option:checked").inner_text() == "c", "two axes are never the same"


def test_hostile_names_are_shown_as_text(visit, hard_model):
    seen = visit(hard_model, columns=HOSTILE)
    assert seen.page.locator("#cluster-table th.name").all_inner_texts()[1] == HOSTILE[0]
    assert seen.page.locator("script").count() == 2
    assert seen.page.locator("img").count() == 0


def test_the_policy_is_in_force(visit, hard_model):
    seen = visit(hard_model)
    tries = {
        "fetch('data:,x')": "Failed to fetch",
        "document.body.innerHTML = '<b>x</b>'": "TrustedHTML",
        "Object.assign(document.createElement('script'), {textContent: 'alert(1)'})": "TrustedScript",
    }
    for code, reason in tries.items():
        outcome = seen.page.evaluate(
            f"async () => {{ try {{ await ({code}); return 'ran'; }} catch (error) {{ return String(error); }} }}"
        )
        assert outcome != "ran"
        assert reason in outcome
    assert seen.wrongs
    assert all("Content Security Policy" in wrong or "Trusted" in wrong for wrong in seen.wrongs)
    seen.wrongs.clear()


@pytest.mark.parametrize(("n_components", "n_features"), [(1, 1), (1, 2), (4, 1), (6, 60), (200, 2)])
def test_any_number_of_columns_and_components(visit, hard_model, n_components, n_features):
    rng = np.random.default_rng(1)
    means = rng.uniform(-9, 9, size=(n_components, n_features))
    covariances = np.tile(0.3 * np.eye(n_features), (n_components, 1, 1))
    model = Fitted(
        GaussianMixture(np.full(n_components, 1 / n_components), means, covariances), hard_model.privacy_
    )
    seen = visit(model)
    seen.page.fill("#k-number", "9999")
    seen.settle()
    assert len(seen.rows()) == len(seen.colours("#dendrogram .leaf", "fill")) == n_components
    assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(visit, default_model):
    seen = visit(default_model)
    seen.technical()
    controls = seen.page.locator("button, input, select").filter(visible=True)
    reached = set()
    for _ in range(80):
        seen.page.keyboard.press("Tab")
        reached.add(seen.page.evaluate("document.activeElement.id"))
    for i in range(controls.count()):
        control = controls.nth(i)
        assert control.get_attribute("id") in reached
        named = control.evaluate("e => (e.labels && e.labels.length) || e.ariaLabel || e.textContent.trim()")
        assert named


@pytest.fixture(scope="module")
def table_of_patients(hard_model):
    return table_model(hard_model.privacy_)


def test_a_table_is_drawn_with_levels_gaps_ranks_and_dates(visit, table_of_patients):
    seen = visit(table_of_patients)
    page = seen.page
    page.fill("#k-number", "3")
    page.select_option("#group", label="all 5")
    seen.settle()
    assert page.locator("#portraits .portrait").count() == 3
    assert page.locator("#levels .level-bar").count() == 3 * (4 + 3), (
        "clusters times levels of both categories; the ward may be missing"
    )
    assert page.locator("#levels .whisker").count() == 21
    heads = page.locator("#cluster-table thead tr").nth(1).inner_text()
    assert heads.count("most frequent") == heads.count("missing") == 2
    table = page.inner_text("#cluster-table tbody")
    assert re.search(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", table)
    assert re.search(r"\b(low|mid|high)\b", table)
    assert_readable(seen)
    page.select_option("#view-x", label="Direction 1")
    seen.settle()
    assert "Direction 1" in page.text_content("#overlay")
    page.select_option("#view-x", label="joined")
    seen.settle()
    assert re.search(r"20\d\d-\d\d", page.text_content("#overlay"))


def test_of_a_table_hidden_levels_and_gaps_are_not_known(visit, hard_model):
    seen = visit(table_model(hard_model.privacy_, counts=(6000, 60, 9)))
    seen.page.fill("#k-number", "3")
    seen.page.select_option("#group", label="all 5")
    seen.settle()
    rows = [row.split("\t") for row in seen.rows()]
    (noise,) = [row for row in rows if row[-1] == "not known" and "not known" in row[4]]
    # Levels and missing values of the ward, median, half and missing values of age, and so on.
    assert noise[4:] == ["not known"] * 10
    assert "The levels of group 2 are not known" in seen.page.inner_text("#levels-caption")
    assert seen.page.locator("#levels .level-bar").count() == 2 * (4 + 3)
    assert_readable(seen)
    with seen.page.expect_download() as download:
        seen.page.click("#table-csv")
    with open(download.value.path(), encoding="utf-8-sig") as file:
        saved = [row for row in csv.DictReader(file) if row["cluster"] == "2"]
    assert all(row["share"] and not row["median"] + row["level_share"] + row["missing"] for row in saved)


@pytest.mark.parametrize("name", ["default_model", "bare_model", "table_of_patients"])
def test_table_and_pictures_can_be_saved(visit, name, request):
    model = request.getfixturevalue(name)
    seen = visit(model)
    seen.technical()
    buttons = ["table-csv", "tree-svg", "tree-png", "density-svg", "density-png"]
    found = {}
    for button in buttons + ["levels-svg"] * (name == "table_of_patients"):
        with seen.page.expect_download() as download:
            seen.page.click(f"#{button}")
        with open(download.value.path(), "rb") as file:
            found[button] = file.read()
    rows = list(csv.DictReader(found["table-csv"].decode("utf-8-sig").splitlines()))
    assert {row["cluster"] for row in rows} == {str(c) for c in range(len(seen.rows()))}
    assert all(found[button].startswith(b"<svg") for button in found if button.endswith("svg"))
    assert all(found[button].startswith(b"\x89PNG") for button in found if button.endswith("png"))
    if name == "default_model":
        summary = model.summary(library="pandas")
        for part in ("share", "q1", "median", "q3"):
            for end in ("", "_low", "_high"):
                saved = [float(row[part + end]) for row in rows]
                wide = summary[f"{part}_high"] - summary[f"{part}_low"]
                assert np.all(np.abs(saved - summary[part + end]) <= 0.06 * wide), part + end
    if name == "table_of_patients":
        of_ward = [row for row in rows if row["cluster"] == "0" and row["column"] == "ward"]
        parts = [float(row["level_share"]) for row in of_ward] + [float(of_ward[0]["missing"])]
        assert sum(parts) == pytest.approx(1, abs=2e-4)
        (joined,) = [row for row in rows if row["cluster"] == "0" and row["column"] == "joined"]
        assert all(re.fullmatch(r"20\d\d-\d\d-\d\d", joined[part]) for part in ("q1", "median", "q3_high"))
    assert not re.search(r"NaN|null|undefined", found["table-csv"].decode())


AXE = os.environ.get("DPMORSE_AXE")


@pytest.mark.skipif(not AXE, reason="needs axe-core: DPMORSE_AXE must be the path of axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["doubtful_model", "bare_model", "table_of_patients"])
def test_axe_finds_nothing_serious(visit, name, scheme, request):
    context = {"color_scheme": scheme, "bypass_csp": True}  # the policy would refuse axe itself
    seen = visit(request.getfixturevalue(name), context=context)
    seen.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    with open(AXE, encoding="utf-8") as script:
        seen.page.evaluate(script.read())
    found = seen.page.evaluate("axe.run(document)")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] != "minor"] == []


def test_pictures_and_regions_have_names(visit, table_of_patients):
    seen = visit(table_of_patients)
    seen.technical()
    for selector in ("svg[role=img]", "[role=region]", "section", "article ul", "article ol"):
        named = seen.page.locator(selector).evaluate_all(
            "nodes => nodes.map((node) => node.getAttribute('aria-label') || node.getAttribute('aria-labelledby'))"
        )
        assert named
        assert all(named), selector
    levels = seen.page.locator("h1, h2, h3").evaluate_all(
        "nodes => nodes.map((node) => Number(node.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_paper_has_all_columns(visit, table_of_patients):
    seen = visit(table_of_patients)
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    names = seen.page.locator("#clusters th.name").all_inner_texts()
    assert {"ward", "age", "grade", "smoker", "joined"} <= {name.strip("0123456789") for name in names}
    seen.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator("#other-tables table").count() == 0


def test_without_scripts_the_promise_and_the_ledger_remain(visit, default_model):
    seen = visit(default_model, context={"java_script_enabled": False})
    assert "groups among" in seen.page.inner_text("#headline")
    assert seen.page.locator("#sentences li").count() == 4
    seen.page.click("#technical > summary")
    assert "differentially private" in seen.page.inner_text(".statement")
    assert seen.page.locator("#ledger tbody tr").count() == len(default_model.privacy_.events)
    for word in ("Unit of privacy", "Trust model", "Small groups", "Saddle"):
        assert seen.page.get_by_text(word, exact=True).is_visible()
    assert not seen.page.is_visible("#main")
    assert seen.page.is_visible("noscript p")


def test_printing_is_light_and_shows_everything(visit, default_model):
    seen = visit(default_model, context={"color_scheme": "dark"})
    screen = seen.picture()
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    printed = seen.picture()
    seen.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert printed != screen
    assert seen.picture() == screen
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not seen.page.is_visible("#theme")
    assert seen.page.is_visible("#cluster-table")


# -- six tables ----------------------------------------------------------------------------------------

CUT_LABELS = """() => [...document.querySelectorAll('svg')].flatMap((svg) => {
  const outer = svg.getBoundingClientRect();
  return !outer.width ? [] : [...svg.querySelectorAll('text')].filter((text) => {
    const inner = text.getBoundingClientRect();
    return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 ||
      inner.bottom > outer.bottom + 1;
  }).map((text) => `${svg.id}: ${text.textContent}`);
})"""

IN_SIGHT = """() => {
  const seen = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNode(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width && box.top < innerHeight && box.bottom > 0) seen.push(walker.currentNode.data);
  }
  return seen.join(' ');
}"""

TOO_WIDE = """() => [...document.querySelectorAll('table')].filter((table) =>
  table.getBoundingClientRect().right > innerWidth + 1).map((table) => table.innerText.slice(0, 80))"""


@pytest.fixture(scope="module")
def six():
    fitted = {}

    def of(name):
        if name not in fitted:
            fitted[name] = SIX[name]()
        return fitted[name]

    return of


@pytest.mark.parametrize("name", SIX)
def test_on_a_screen_labels_are_whole_and_the_first_screen_is_plain(visit, six, name):
    seen = visit(six(name), context={"viewport": {"width": 1280, "height": 800}}, dataset="a.csv")
    first = seen.page.evaluate(IN_SIGHT)
    assert re.search(r"groups? (among|stands out)", first)
    for jargon in (r"\brho\b", "zCDP", r"e-0\d", "[Mm]erge rule", "[Ss]addle", r"\bmodes?\b"):
        assert not re.search(jargon, first)
    assert seen.page.evaluate(CUT_LABELS) == []
    seen.technical()
    assert seen.page.evaluate(CUT_LABELS) == []
    assert_readable(seen)


@pytest.mark.parametrize("name", SIX)
def test_on_a_phone_a_page_is_short_and_nothing_is_cut(visit, six, name):
    seen = visit(six(name), context={"viewport": {"width": 390, "height": 844}})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen.page.evaluate("document.documentElement.scrollHeight") < 8000
    assert seen.page.evaluate(CUT_LABELS) == []
    seen.technical()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen.page.evaluate(CUT_LABELS) == []


@pytest.mark.parametrize("name", SIX)
def test_on_paper_no_column_is_lost(visit, six, name):
    seen = visit(six(name), context={"viewport": {"width": 720, "height": 1000}})
    seen.page.emulate_media(media="print")
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    seen.settle()
    assert seen.page.evaluate(TOO_WIDE) == []
    assert seen.page.evaluate(CUT_LABELS) == []
    names = seen.page.locator("#clusters th.name").evaluate_all("heads => heads.map((head) => head.title)")
    assert len(set(names) - {""}) == len(six(name)._released.schema_.names)
    assert seen.page.is_visible("#ledger"), "what is folded is printed"


@pytest.mark.parametrize("dark", [False, True])
def test_differences_of_all_groups_are_on_one_scale(visit, six, dark):
    """A dot lies as far from the middle as its difference says, whatever group it is of."""
    seen = visit(six("demo"), context={"color_scheme": "dark" if dark else "light"})
    places = seen.page.locator(".ranked-dot").evaluate_all(
        "dots => dots.map((dot) => parseFloat(dot.style.left))"
    )
    data = seen.page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    nodes = data["nodes"][data["n_clusters"] - 1]
    stated = [one[1] for node in nodes for one in data["numbers"]["rows"][node]["traits"][:6]]
    assert len(stated) == len(places)
    slopes = (np.array(places) - 50)[np.abs(stated) > 0.1] / np.array(stated)[np.abs(stated) > 0.1]
    assert slopes == pytest.approx(np.full(len(slopes), slopes[0]), rel=0.02)


def test_clusters_have_the_colours_of_figures(visit, default_model):
    from dpmorse.plots import COLOURS

    seen = visit(default_model)
    shown = seen.page.locator("#sentences .swatch").evaluate_all(
        "marks => marks.map((mark) => mark.style.backgroundColor)"
    )
    wanted = [f"rgb({', '.join(str(int(one[i : i + 2], 16)) for i in (1, 3, 5))})" for one in COLOURS[:4]]
    assert shown == wanted
