"""Per notebook: questions with computed answers, checks that say what went wrong, solutions."""
