import numpy as np

from dpmorse import DPMorse
from dpmorse.report.contents import contents
from dpmorse.report.released import released


def test_modes_of_a_far_cluster_are_shown_where_its_records_are():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 0.5, (18_000, 2)), rng.normal([10, 0], 0.5, (2_000, 2))]
    model = DPMorse(2, epsilon=1.0, bounds=(-20, 20), random_state=0).fit(X)
    page = contents(released(model, None), 500, np.random.default_rng(0))
    far = [mode["point"][0] for mode in page["modes"] if mode["point"][0] > 4]
    assert abs(far[0] - 10) < 0.8, "the deepest of its modes"
    assert all(8 < place < 12 for place in far)
    assert page["axes"][0]["high"] > 10
