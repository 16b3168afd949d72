"""Private expectation-maximisation: DPMoG and DPMoG-hard."""

from dpmorse.bases.em.dpmog import DPMoG as DPMoG
from dpmorse.bases.em.dpmog_hard import DPMoGHard as DPMoGHard
