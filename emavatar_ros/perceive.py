"""What the views make of a recording, over its time, without ROS: `emavatar perceive`.

The recording is gone through in steps of its own time, as a kiosk would live through it: the face is judged every
second, and each utterance, once it has ended, by all views together; the arbiter's belief runs along. So what is said
of a moment never knows what came later. Models load beside each other, and only those the recording needs.

Time is in seconds from the start of the recording. Deterministic: nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from emavatar_ros.deliberation.belief import Belief
from emavatar_ros.emotion.candidate import Candidate, Estimate
from emavatar_ros.listening.events import SpeechEnded, Utterance
from emavatar_ros.listening.listener import Listener, ListenerConfig
from emavatar_ros.listening.voice_activity import RATE
from emavatar_ros.loading import Loading
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import Image, Video
from emavatar_ros.media.images import fit
from emavatar_ros.perception import whole
from emavatar_ros.perception.face.view import SLACK
from emavatar_ros.rooms import Rooms
from emavatar_ros.turn_record import candidate_json, emotion

ARBITER: Final = 'arbiter'
ORDER: Final = ('face', 'words', 'voice', 'whole', ARBITER)
"""The views in the order in which they tell of the same moment; the arbiter listens to all and comes last."""
EVERY: Final = 1.0
"""The face is judged, and the belief told, this often (s): a whole number of STEPs."""
STEP: Final = 0.1
"""The recording is gone through in steps of this length, in seconds."""
SHORTEST: Final = 0.3
"""A rest of the recording shorter than this (s) is no window of its own."""
IMAGES_PER_S: Final = 8.0
"""How many images of a video are looked at."""
HOLD: Final = 5.0
"""After an utterance was judged, the face alone moves the belief only this much later (s), as in the graph."""
PATIENCE: Final = 1800.0
"""Longest wait for a model, in seconds: it may have to be downloaded first."""
KEPT: Final = 40
"""Images kept for a model that takes everything together."""
NOBODY: Final = 'none'
NOTHING: Final = 'nothing was seen or heard so far'


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
            made |= {'view': self.view, **emotion(self.said), 'abstains': self.abstains}
        return made if self.text is None else made | {'text': self.text, 'language': self.language}


@dataclass
class Models:
    """What perceives. None: the recording has nothing for it. listener: mono 16 kHz, recognising where it is fed."""

    arbiter: Any
    belief: Belief
    whole: Any
    listener: Listener | None = None
    words: Any = None
    voice: Any = None
    face: Any = None


def load(rooms: Rooms, audio: Audio | None, video: Video | None) -> Models:
    """The models this recording needs, loaded side by side."""
    loading = Loading()
    seen = video is not None and video.has_images
    if audio is not None:
        loading.start('activity', rooms.activity)
        loading.start('recogniser', rooms.recogniser)
        loading.start('words', rooms.words)
        loading.start('voice', rooms.voice_view)
    if seen:
        loading.start('face', rooms.face_view)
    models = Models(rooms.arbiter(), Belief(rooms.config('arbiter').belief), whole.create())
    if audio is not None:
        settings = rooms.config('listening')
        config = ListenerConfig(turns=settings.turns, preroll=settings.preroll, partial_every=0.0, zeros=0.0)
        models.listener = Listener(config, loading.get('activity', patience=PATIENCE),
                                   loading.get('recogniser', patience=PATIENCE))
        models.words, models.voice = (loading.get(name, patience=PATIENCE) for name in ('words', 'voice'))
    if seen:
        models.face = loading.get('face', patience=PATIENCE)
    return models


@dataclass
class Perception:
    """One run over a recording. seen: small images of it, at most `thumb` px a side, filled as `events` goes on."""

    models: Models
    audio: Audio | None
    video: Video | None
    thumb: int = 0
    seen: list[Image] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Length of the recording, 0 for a still picture."""
        heard = self.audio.seconds if self.audio is not None else 0.0
        return max(heard, self.video.seconds if self.video is not None else 0.0)

    def events(self) -> Iterator[Event]:
        """What the views make of it, ordered by `t`; events of one moment in the order of ORDER."""
        self._images = self.video.images(most=IMAGES_PER_S) if self.video is not None else iter(())
        self._next = next(self._images, None)
        self._kept: deque[Image] = deque(maxlen=KEPT)
        self._decided: float | None = None
        self._utterances = 0
        self._ended: dict[float, float] = {}
        self._last = 0.0
        self._window = 0.0
        sound = self.audio.mono(RATE).samples if self.audio is not None else np.zeros(0, np.float32)
        seconds = self.seconds
        for step in range(1, int(np.ceil(seconds / STEP)) + 1):
            now = min(step * STEP, seconds)
            self._look(now)
            yield from self._listen(sound, (step - 1) * STEP, now)
            whole_window = step % round(EVERY / STEP) == 0 and seconds - now >= SHORTEST
            if whole_window:
                yield from self._running(now)
        self._look(float('inf'))
        if self.models.listener is not None:
            for heard in self.models.listener.flush():
                yield from self._judge(heard, seconds)
        yield from self._running(seconds)
        yield from self._rest(seconds)

    def _look(self, until: float) -> None:
        """Show the images before `until` to the face view."""
        while self._next is not None and self._next.stamp < until:
            image, self._next = self._next, next(self._images, None)
            self.models.face.see(image.pixels, image.stamp)
            if self.thumb and (not self.seen or image.stamp - self.seen[-1].stamp >= self.seconds / 400):
                self.seen.append(Image(fit(image.pixels, self.thumb), image.stamp))
            if not self._kept or image.stamp - self._kept[-1].stamp >= EVERY / 2:
                self._kept.append(Image(fit(image.pixels, 480), image.stamp))

    def _listen(self, sound: Any, start: float, now: float) -> Iterator[Event]:
        chunk = sound[round(start * RATE):round(now * RATE)]
        if self.models.listener is not None and len(chunk):
            for heard in self.models.listener.feed(chunk, start):
                yield from self._judge(heard, now)

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
        candidates.append(models.words.read(heard.text, heard.language or 'en') if heard.text
                          else Candidate.abstain('words', NOBODY, 'a voice was heard, but no words'))
        candidates.append(models.voice.hear(heard.audio, heard.embedding))
        pictures = [image.pixels for image in self._kept if heard.start <= image.stamp <= heard.end]
        candidates.append(models.whole.judge(heard.text, heard.audio, pictures))
        for candidate in candidates:
            yield self._event(stamp, heard.start, heard.end, candidate, heard)
        estimate = models.arbiter.decide(candidates)
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
                self.models.belief.update(self.models.arbiter.decide([candidate]), now)
        if now > start or self.models.face is not None:
            belief = self.models.belief.at(now)
            yield self._event(now, start, now, belief if belief.reasons else replace(belief, reasons=(NOTHING,)))

    def _rest(self, seconds: float) -> Iterator[Event]:
        """The views that had nothing in the whole recording say so."""
        missing = []
        if self.models.face is None:
            missing.append(('face', 'the recording has no pictures'))
        if not self._utterances:
            deaf = self.models.listener is None
            missing += [('words', 'the recording has no sound' if deaf else 'no words were heard'),
                        ('voice', 'the recording has no sound' if deaf else 'nobody speaks in the sound'),
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
