"""What two fits on neighbours must have in common where both are given the same answers."""

from audits.attacks.replayed_fits import Replay


def check_paid_for(monkeypatch, fit_one, fit_other):
    """No question is moved by more than was paid, one is moved visibly, and the models are the same."""
    fitted = []
    questions = Replay(monkeypatch).distances(
        lambda: fitted.append(fit_one()), lambda: fitted.append(fit_other())
    )
    assert questions
    for name, moved in questions:
        assert moved <= 1 + 1e-9, name
    assert max(moved for _, moved in questions) > 0.1, "the neighbour is not noticed at all"
    assert fitted[0].mixture_ == fitted[1].mixture_
    assert fitted[0].privacy_ == fitted[1].privacy_
