"""All errors and warnings of the library, under one base."""


class DPMorseError(Exception):
    """Base of all errors raised by dpmorse."""


class InvalidParameterError(DPMorseError, ValueError):
    """A parameter or an input has a value that cannot be used."""


class InvalidTypeError(DPMorseError, TypeError):
    """A parameter or an input has a type that cannot be used."""


class BudgetExceededError(DPMorseError):
    """A release would spend more than the budget allows; nothing was drawn."""


class ModelFormatError(DPMorseError, ValueError):
    """A model file is damaged, hostile, or from a newer version of the library."""


class OutputExistsError(DPMorseError, FileExistsError):
    """A file that is to be written exists already; it was left as it is."""


class WorkersLostError(DPMorseError, TimeoutError):
    """All workers of a cluster are gone, and none has come back within the waiting time."""


class NoisyModelWarning(UserWarning):
    """The noise supports no component: the released model says nothing about the data."""


class PrivacyLeakWarning(UserWarning):
    """A setting that is permitted but gives a weak promise, such as epsilon = 50."""


class TreeNotBuiltError(DPMorseError):
    """The budget was spent, but the merge tree of the released mixture could not be built.

    ``base`` is the fitted base, so that the release is not lost.
    """

    base: object = None
