"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009."""
