"""The bases that find centres first and measure the records around them afterwards."""
