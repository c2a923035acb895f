"""A simulator of producers, consumers, and operators that knows the truth, and judges whose verdicts it checks."""
