"""Signals: what each means in SQL, the word lists and similarity behind them, and the engines that run them."""
