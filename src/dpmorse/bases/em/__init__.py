"""Private expectation-maximisation: DPMoG and DPMoG-hard."""
