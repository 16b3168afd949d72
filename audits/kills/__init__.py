"""Processes that fit, spend and save, and are killed on the way; checks of the files they leave."""
