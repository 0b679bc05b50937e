"""An empathetic face for a robot or a kiosk, as ROS 2 nodes.

The rooms, in the order data flows: listening, perception, deliberation, planning, voice, face, stage.
Each is free of ROS; `nodes` wires them to topics, `turn` runs them once without ROS.
"""

__version__ = '0.1.0'

import os

# onnxruntime's wheels (1.32) report what they load to Microsoft, and keep a file in the home folder and one in /tmp for
# that; it asks for this variable when it is imported. Who wants to help them sets it to 0.
os.environ.setdefault('ORT_DISABLE_TELEMETRY', '1')
