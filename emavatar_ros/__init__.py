"""An empathetic face for a robot or a kiosk, as ROS 2 nodes.

The rooms, in the order data flows: listening, perception, deliberation, planning, voice, face, stage.
Each is free of ROS; `nodes` wires them to topics, `turn` runs them once without ROS.
"""

__version__ = '0.1.0'
