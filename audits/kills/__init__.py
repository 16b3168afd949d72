"""Processes that fit, spend and save, and are killed on the way: how, and what they leave behind."""
