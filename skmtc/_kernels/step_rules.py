"""Constants of the steps of users, for the compiled loop and for the numpy one."""

# Power iterations for the largest curvature, and the factor for what they miss. More would cost as
# much as steps do; damping corrects estimates that are too small.
POWER_STEPS = 4
METRIC_SAFETY = 1.1
METRIC_LIFE = 8  # steps after which the diagonal of the Hessian is taken anew
# A user's sweep ends when a step is this much shorter than its first, as squared lengths. Lengths
# are those without momentum, which is short wherever a path turns.
SHORTEST_STEP = 1e-4
# Factor of a rejected sweep, and how often it is applied before the user stays where it was.
BACKTRACK = 0.3
MAX_BACKTRACKS = 6
