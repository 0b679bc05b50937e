#!/usr/bin/env bash
# From nothing to a conversation: installs what is missing, fetches the models, starts the graph, lets a visitor meet
# the avatar and leaves demo_output/ with visitor.mp4, reply.mp4 and turn.json.
#
#   ./scripts/demo.sh                      our own visitor
#   ./scripts/demo.sh --live               you: camera, microphone, speaker, a window
#   ./scripts/demo.sh --video me.mp4       your recording; --audio me.wav, --text "..." likewise
#   ./scripts/demo.sh --help               all options
#
# The first run takes minutes (1.5 GB of models), a later one starts at once.

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
system_packages
environment embedded
case " $* " in
  *' --help '* | *' -h '*) exec "$VENV/bin/emavatar" demo --help ;;
esac
"$VENV/bin/emavatar" models pull --profile embedded
exec "$VENV/bin/emavatar" demo "$@"
