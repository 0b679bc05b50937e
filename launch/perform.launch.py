"""The perform part of the graph alone; see kiosk.launch.py for all of it."""

from emavatar_ros.nodes.launch_description import describe


def generate_launch_description():
    return describe('perform')
