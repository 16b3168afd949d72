"""No search finds records that move a statistic further than declared; one record moves it just as far."""

import pytest

from audits.attacks.sensitivities import search


def test_random_statistics_domains_and_weights():
    above, reached = search(500)
    assert above <= 1 + 1e-9
    assert reached == pytest.approx(1, abs=1e-4), "add/remove-one: the closed form is attained"
