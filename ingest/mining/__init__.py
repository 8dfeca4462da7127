"""From interactions to candidates: the signals run, what they found kept, the best handed to review."""
