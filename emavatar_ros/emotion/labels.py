"""The eight emotions, in the one order used everywhere, and the two things that are not an emotion.

The order is alphabetical; AvaMERG's seven plus neutral. An estimate may be `UNSURE`; a view that saw nothing
abstains and has no label at all: neither is ever replaced by neutral.
"""

from typing import Final

LABELS: Final = ('angry', 'contempt', 'disgusted', 'fear', 'happy', 'neutral', 'sad', 'surprised')
UNPLEASANT: Final = frozenset({'angry', 'contempt', 'disgusted', 'fear', 'sad'})
UNSURE: Final = 'unsure'
VIEWS: Final = ('words', 'voice', 'face', 'whole')
