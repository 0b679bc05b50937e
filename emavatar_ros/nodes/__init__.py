"""The only room that knows ROS: one thin file per node.

Importing it comes before numpy, so that its BLAS threads can be kept to one: a model's own threads are set where it
is loaded, and two libraries that each take every core slow each other down tenfold. Threads that wait sleep: beside
other work, spinning ones cost the language model seven times the processor.
"""

import os

THREADS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'OMP_WAIT_POLICY': 'PASSIVE'}

for _name, _value in THREADS.items():
    os.environ.setdefault(_name, _value)
