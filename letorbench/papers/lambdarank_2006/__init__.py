"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006."""
