"""The whole graph: perceive, converse and perform."""

from emavatar_ros.nodes.launch_description import describe


def generate_launch_description():
    return describe('perceive', 'converse', 'perform')
