"""The only room that knows ROS: one thin file per node.

Importing it comes before numpy, so that its BLAS threads can be kept to one: a model's own threads are set where it
is loaded, and two libraries that each take every core slow each other down tenfold.
"""

import os

for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')
