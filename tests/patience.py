"""How long a trial waits for something that must come.

It only tells a trial that hangs from one on a machine that is busy with other work, and is no bound of the
product: those are named where they are asserted.
"""

PATIENCE_SECONDS = 180
