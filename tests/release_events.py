"""An invented release, as a ledger notes it."""

from dpmorse.privacy import Neighboring, ReleaseEvent, Step


def event(rho=0.004, neighboring=Neighboring.ADD_REMOVE_GROUP):
    """Return the event of a release of this cost."""
    return ReleaseEvent(
        step=Step.parse("a release"),
        neighboring=neighboring,
        rho=rho,
        n_draws=10,
        smallest_scale=2**24,
        noise_stddev={},
    )
