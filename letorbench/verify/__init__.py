"""Whose number is right: what a number can mean, and whether it can be at all."""
