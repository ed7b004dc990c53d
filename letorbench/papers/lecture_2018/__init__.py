"""W. Zhang, "Learning to Rank", lecture 9 of EE448, Shanghai Jiao Tong University, 2018."""
