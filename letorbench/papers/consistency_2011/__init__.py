"""Ravikumar, Tewari, Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011."""
