"""What the views make of a recording, or of what camera and microphone give, over its time, without ROS.

It is gone through in steps of its own time, as a kiosk lives through it: the face is judged every second, and each
utterance, once it has ended, by all views together; the arbiter's belief runs along. So what is said of a moment never
knows what came later. Models load beside each other, and only those that are needed.

Time is in seconds from the start. Nothing here reads a clock: a recording gives the same events every time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import numpy as np

from emavatar_ros.deliberation.belief import Belief
from emavatar_ros.deliberation.roles import Case
from emavatar_ros.emotion.candidate import Candidate, Estimate
from emavatar_ros.emotion.record import candidate_json, emotion_json
from emavatar_ros.history import Line
from emavatar_ros.listening.events import SpeechEnded, Utterance
from emavatar_ros.listening.listener import Listener, ListenerConfig
from emavatar_ros.listening.voice_activity import RATE
from emavatar_ros.loading import Loading
from emavatar_ros.media.audio import Samples
from emavatar_ros.media.files import Image
from emavatar_ros.media.images import fit
from emavatar_ros.perception.face.view import SLACK
from emavatar_ros.rooms import Rooms
from emavatar_ros.senses import IMAGES_PER_S, NOBODY, PATIENCE, Input

ARBITER: Final = 'arbiter'
ORDER: Final = ('face', 'words', 'voice', 'whole', ARBITER)
"""The views in the order in which they tell of the same moment; the arbiter listens to all and comes last."""
EVERY: Final = 1.0
"""The face is judged, and the belief told, this often (s): a whole number of STEPs."""
STEP: Final = 0.1
"""Time passes in steps of about this length, in seconds."""
SHORTEST: Final = 0.3
"""A rest shorter than this (s) is no window of its own."""
HOLD: Final = 5.0
"""After an utterance was judged, the face alone moves the belief only this much later (s), as in the graph."""
KEPT: Final = 40
"""Images kept for a model that takes everything together."""
NOTHING: Final = 'nothing was seen or heard so far'
NOTHING_HEARD: Final[Samples] = np.zeros(0, np.float32)


@dataclass(frozen=True)
class Event:
    """What one view, or the arbiter, makes of the time from `start` to `end`; known at `t`. All s.

    said: the view's candidate or the arbiter's estimate. text, language (BCP 47): what was said in that time; text is
    None when the event is not about an utterance.
    """

    t: float
    start: float
    end: float
    view: str
    said: Candidate | Estimate
    text: str | None = None
    language: str = ''

    @property
    def abstains(self) -> bool:
        """True when there was nothing to go by."""
        return self.said.abstains if isinstance(self.said, Candidate) else self.said.method == 'none'

    @property
    def why(self) -> str:
        """What stands for what was said, or why nothing was, in a sentence or some."""
        return (self.said.evidence or self.said.reason) if isinstance(self.said, Candidate) else (
            '; '.join(self.said.reasons))

    def as_json(self) -> dict[str, Any]:
        """The event as one JSON object; names and meaning as in turn.json."""
        made: dict[str, Any] = {'t': round(self.t, 3), 'start': round(self.start, 3), 'end': round(self.end, 3)}
        if isinstance(self.said, Candidate):
            made |= candidate_json(self.said) | {'abstains': self.abstains, 'reason': self.said.reason}
        else:
            made |= {'view': self.view, **emotion_json(self.said), 'abstains': self.abstains}
        return made if self.text is None else made | {'text': self.text, 'language': self.language}


@dataclass(frozen=True)
class Step:
    """What came in up to `now` (s): mono 16 kHz sound whose first sample is of `start` (s); images, oldest first."""

    now: float
    sound: Samples
    start: float
    images: tuple[Image, ...]


class Source(Protocol):
    """Where sound and images come from. heard, seen: there is a sound, there are images, as far as is known now."""

    heard: bool
    seen: bool

    @property
    def seconds(self) -> float:
        """Length so far; 0 for a still picture."""
        ...

    def left(self, now: float) -> float:
        """Seconds still to come after `now`; infinite where nobody knows."""
        ...

    def steps(self) -> Iterator[Step]:
        """Everything once, in the order of time."""
        ...


class Recording:
    """A recording as a source."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self.heard, self.seen = given.audio is not None, given.seen

    @property
    def seconds(self) -> float:
        """Length of the recording, 0 for a still picture."""
        heard = self._given.audio.seconds if self._given.audio is not None else 0.0
        return max(heard, self._given.video.seconds if self._given.video is not None else 0.0)

    def left(self, now: float) -> float:
        """Seconds still to come after `now`."""
        return self.seconds - now

    def steps(self) -> Iterator[Step]:
        """STEPs of it; the last one has all that is left."""
        images = self._given.video.images(most=IMAGES_PER_S) if self._given.video is not None else iter(())
        sound = self._given.audio.mono(RATE).samples if self._given.audio is not None else NOTHING_HEARD
        image = next(images, None)
        seconds = self.seconds
        count = max(1, int(np.ceil(seconds / STEP)))
        for number in range(1, count + 1):
            start, now = (number - 1) * STEP, min(number * STEP, seconds)
            shown = []
            while image is not None and (image.stamp < now or number == count):
                shown.append(image)
                image = next(images, None)
            end = len(sound) if number == count else round(now * RATE)
            yield Step(now, sound[round(start * RATE):end], start, tuple(shown))


@dataclass
class Models:
    """What perceives. None: there is nothing for it. listener: mono 16 kHz, recognising where it is fed."""

    arbiter: Any
    belief: Belief
    whole: Any
    listener: Listener | None = None
    words: Any = None
    voice: Any = None
    face: Any = None


def load(rooms: Rooms, source: Source) -> Models:
    """The models this source needs, loaded side by side."""
    loading = Loading()
    if source.heard:
        loading.start('activity', rooms.activity)
        loading.start('recogniser', rooms.recogniser)
        loading.start('words', rooms.words)
        loading.start('voice', rooms.voice_view)
    if source.seen:
        loading.start('face', rooms.face_view)
    models = Models(rooms.arbiter(), Belief(rooms.config('arbiter').belief), rooms.whole())
    if source.heard:
        settings = rooms.config('listening')
        config = ListenerConfig(turns=settings.turns, preroll=settings.preroll, partial_every=0.0)
        models.listener = Listener(config, loading.get('activity', patience=PATIENCE),
                                   loading.get('recogniser', patience=PATIENCE))
        models.words, models.voice = (loading.get(name, patience=PATIENCE) for name in ('words', 'voice'))
    if source.seen:
        models.face = loading.get('face', patience=PATIENCE)
    return models


@dataclass
class Timeline:
    """One run over a source. shown: small images of it, at most `thumb` px a side, filled as `events` goes on."""

    models: Models
    source: Source
    thumb: int = 0
    shown: list[Image] = field(default_factory=list)

    def events(self) -> Iterator[Event]:
        """What the views make of it, ordered by `t`; events of one moment in the order of ORDER."""
        self._kept: deque[Image] = deque(maxlen=KEPT)
        self._history: list[Line] = []
        self._decided: float | None = None
        self._utterances = 0
        self._ended: dict[float, float] = {}
        self._last = 0.0
        self._window = 0.0
        now = 0.0
        for step in self.source.steps():
            now = step.now
            for image in step.images:
                self._look(image)
            if self.models.listener is not None and len(step.sound):
                for heard in self.models.listener.feed(step.sound, step.start):
                    yield from self._judge(heard, now)
            if now - self._window >= EVERY - STEP / 2 and self.source.left(now) >= SHORTEST:
                yield from self._running(now)
        if self.models.listener is not None:
            for heard in self.models.listener.flush():
                yield from self._judge(heard, now)
        yield from self._running(now)
        yield from self._rest(now)

    def _look(self, image: Image) -> None:
        """Show an image to the face view, and keep what others want of it."""
        self.models.face.see(image.pixels, image.stamp)
        apart = max(self.source.seconds / 400, 0.1)
        if self.thumb and (not self.shown or image.stamp - self.shown[-1].stamp >= apart):
            self.shown.append(Image(fit(image.pixels, self.thumb), image.stamp))
        if not self._kept or image.stamp - self._kept[-1].stamp >= EVERY / 2:
            self._kept.append(Image(fit(image.pixels, 480), image.stamp))

    def _judge(self, heard: Any, now: float) -> Iterator[Event]:
        """All views of an utterance that has ended."""
        if isinstance(heard, SpeechEnded):
            self._ended[heard.start] = heard.stamp
        if not isinstance(heard, Utterance):
            return
        models = self.models
        stamp = min(max(self._ended.pop(heard.start, now), self._last), now)
        candidates = []
        if models.face is not None:
            candidates.append(models.face.candidate(heard.start, heard.end))
        candidates.append(models.words.read(heard.text, heard.language or 'en', self._history) if heard.text
                          else Candidate.abstain('words', NOBODY, 'a voice was heard, but no words'))
        candidates.append(models.voice.hear(heard.audio, heard.embedding))
        pictures = [image.pixels for image in self._kept if heard.start <= image.stamp <= heard.end]
        candidates.append(models.whole.judge(heard.text, heard.audio, pictures, self._history))
        if heard.text:
            self._history.append(Line('visitor', heard.text, candidates[-3].label))
        for candidate in candidates:
            yield self._event(stamp, heard.start, heard.end, candidate, heard)
        estimate = models.arbiter.decide(Case.of(candidates, heard.text, self._history, heard.audio, pictures))
        models.belief.update(estimate, stamp)
        self._decided = stamp
        self._utterances += 1
        yield self._event(stamp, heard.start, heard.end, estimate, heard)

    def _running(self, now: float) -> Iterator[Event]:
        """What the face shows since the last time, and the belief now."""
        start, self._window = self._window, now
        if self.models.face is not None:
            # Only this window: the view looks a little beyond what it is asked for.
            candidate = self.models.face.candidate(start + SLACK, now - SLACK)
            yield self._event(now, start, now, candidate)
            if not candidate.abstains and (self._decided is None or now - self._decided > HOLD):
                self.models.belief.update(self.models.arbiter.decide(Case.of([candidate])), now)
        if now > start or self.models.face is not None:
            belief = self.models.belief.at(now)
            yield self._event(now, start, now, belief if belief.reasons else replace(belief, reasons=(NOTHING,)))

    def _rest(self, seconds: float) -> Iterator[Event]:
        """The views that had nothing all the time say so."""
        missing = []
        if self.models.face is None:
            missing.append(('face', 'there are no pictures'))
        if not self._utterances:
            deaf = self.models.listener is None
            missing += [('words', 'there is no sound' if deaf else 'no words were heard'),
                        ('voice', 'there is no sound' if deaf else 'nobody speaks in the sound'),
                        ('whole', 'nobody speaks: there is no utterance to judge')]
        for view, reason in missing:
            yield self._event(seconds, 0.0, seconds, Candidate.abstain(view, NOBODY, reason))

    def _event(self, t: float, start: float, end: float, said: Candidate | Estimate,
               heard: Utterance | None = None) -> Event:
        self._last = max(self._last, t)
        view = said.view if isinstance(said, Candidate) else ARBITER
        return Event(self._last, start, end, view, said, None if heard is None else heard.text,
                     '' if heard is None else heard.language)


def summary(events: list[Event], seconds: float) -> Iterator[str]:
    """Lines for a person: each utterance with what each view makes of it, then how the face changed."""
    for mine in _utterances(events):
        first = mine[0]
        yield f'{first.start:6.1f} - {first.end:.1f} s  {first.text or "(no words)"}'
        for event in mine:
            yield f'         {event.view:8} {_said(event)}'
    runs: list[Event] = []
    for event in events:
        if event.view == 'face' and event.text is None:
            if runs and runs[-1].said.label == event.said.label and runs[-1].abstains == event.abstains:
                runs[-1] = replace(runs[-1], end=event.end)
            else:
                runs.append(event)
    for run in runs:
        when = f'{run.start:6.1f} - {run.end:.1f} s' if seconds else ' the picture'
        yield f'{when}  face: {run.said.label or "nothing"} ({run.why})'
    for event in events:
        if event.view in ('words', 'voice') and event.text is None:
            yield f'         {event.view:8} {_said(event)}'
    final = [event for event in events if event.view == ARBITER]
    if final:
        yield f'At the end the visitor seems {final[-1].said.label} ({final[-1].said.confidence:.0%}).'


def brief(event: Event) -> str:
    """One line for a person who watches as it happens, '' for what changes nothing: utterances, and what is believed of
    them."""
    when = f'{event.t:6.1f} s  '
    if event.text is None:
        return ''
    return f'{when}{event.view:8} {_said(event)}' + (f'  "{event.text}"' if event.view == 'words' else '')


def _utterances(events: list[Event]) -> list[list[Event]]:
    found: dict[float, list[Event]] = {}
    for event in events:
        if event.text is not None:
            found.setdefault(event.start, []).append(event)
    return list(found.values())


def _said(event: Event) -> str:
    if event.abstains:
        return f'{"abstains":15}  {event.why}'
    why = event.why if isinstance(event.said, Candidate) else event.said.reasons[0] if event.said.reasons else ''
    return f'{event.said.label or "":10} {event.said.confidence:4.0%}  {why}'
