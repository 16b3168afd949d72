"""Files of delimited text: what reads them, and what `inspect` says of them."""
