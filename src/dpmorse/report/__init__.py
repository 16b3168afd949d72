"""A page about a released model: one HTML file that needs no network, no server and no other file.

``render`` returns the page, ``write_report`` writes it. Everything on it is computed from released values
(the mixture, its merge tree, the privacy report, the domain) and names of columns; synthetic records are
drawn from the mixture. It may be published wherever the model may be.
"""

from dpmorse.report.bulletin import Description as Description
from dpmorse.report.bulletin import describe as describe
from dpmorse.report.page import render as render
from dpmorse.report.page import write_report as write_report
