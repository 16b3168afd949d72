"""No search finds records that move a statistic further than declared; one record moves it just as far."""

import pytest

from audits.attacks.sensitivities import search, search_soft, search_tables
from dpmorse.statistics import LevelCounts


@pytest.mark.parametrize(("search", "n_settings"), [(search, 500), (search_soft, 100), (search_tables, 100)])
def test_random_statistics_domains_and_weights(search, n_settings):
    above, reached = search(n_settings)
    assert above <= 1 + 1e-9
    assert reached == pytest.approx(1, abs=1e-4), "add/remove-one: the closed form is attained"


def test_holes_that_are_free_are_noticed(monkeypatch):
    monkeypatch.setattr(LevelCounts, "n_ones", property(lambda self: self.layout.n_categories))
    assert search_tables(20)[0] > 1.01
