"""The benchmark of "found again": its rows, and what its tables count."""

import numpy as np
import pytest

from benchmarks.again import SORTS, compare, tables, tasks


def row(**changes):
    about = {"sort": "numbers", "name": "blobs", "instance": 0, "seed": 0, "clusters": 2, "cluster": 0}
    known = {"again": 0.8, "found_in": 4, "other_fit": 0.9, "agreeing": 5, "same_number": True}
    return {**about, **known, "seconds": [1.0, 3.0], **changes}


def test_tables_count_clusters_by_bands():
    rows = [
        row(),
        row(cluster=1, again=0.84, other_fit=0.7, found_in=4),
        row(again=0.3, other_fit=0.4, found_in=0),
    ]
    rows += [
        row(sort="no groups", name="t", again=0.9),
        row(sort="no groups", name="t", again=0.2, cluster=1),
    ]
    rows += [row(sort="no groups", name="t", clusters=1, again=1.0)]
    text = tables(rows)
    assert "| 0.75 to 0.85 | 2 | 0.82 | 0.80 ± 0.00 | 0.80 (2) | - (0) |" in text
    assert "| below 0.40 | 1 | 0.30 | 0.40 ± 0.00 |" in text
    assert "| 4 of 5 | 2 | 0.50 |" in text
    assert "| all | 2 | 1 | 2 | 1 | 0.90 |" in text
    assert "both together take 4.0 times a fit" in text


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.filterwarnings("ignore")
def test_a_table_has_a_row_for_each_cluster_of_either_fit(sort):
    name = SORTS[sort][1][-1]
    rows = compare(sort, name, 3, 0)
    for number in {each["clusters"] for each in rows}:
        assert sorted({each["cluster"] for each in rows if each["clusters"] == number}) == list(range(number))
    assert all(0 <= each["other_fit"] <= 1 for each in rows)
    assert all(each["again"] is None or 0 <= each["again"] <= 1 for each in rows)


def test_no_task_is_asked_for_twice():
    found = tasks(2)
    assert len(set(found)) == len(found)
    assert {sort for sort, *_ in found} == set(SORTS)
    assert np.all([instance >= 3200 for sort, _, instance, _ in found if sort != "real"])
