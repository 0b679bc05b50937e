"""The four views of one input, without ROS: what was said, and what words, voice, face and all together show of it.

`emavatar turn` has one input, `emavatar perceive` and the bench many, one after the other with the same models. Models
load beside each other, and only those that an input needs; a video is looked at while its words are heard.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

from emavatar_ros.emotion.candidate import Candidate
from emavatar_ros.emotion.labels import VIEWS
from emavatar_ros.emotion.record import candidate_json, share
from emavatar_ros.history import Line
from emavatar_ros.language import guess
from emavatar_ros.listening.events import Utterance
from emavatar_ros.loading import Stopwatch
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import Video
from emavatar_ros.media.images import Pixels
from emavatar_ros.rooms import Rooms

IMAGES_PER_S: Final = 8.0
"""How many images of a video are looked at: an expression lasts longer than their distance."""
PATIENCE: Final = 1800.0
"""Longest wait for a model, in seconds: it may have to be downloaded first."""
NOBODY: Final = 'none'
"""The model of a view that was not asked."""
UNKNOWN: Final = 'und'
"""BCP 47 for a language that isn't known."""


@dataclass(frozen=True)
class Input:
    """What a visitor gave; None: not given. history: the lines before it, oldest first. language: BCP 47, the one a
    typed text is in unless it clearly is in another."""

    audio: Audio | None = None
    video: Video | None = None
    text: str | None = None
    history: tuple[Line, ...] = ()
    language: str = 'en'

    @property
    def seen(self) -> bool:
        """True when there are images."""
        return self.video is not None and self.video.has_images


@dataclass(frozen=True)
class Perceived:
    """What was made of an input. text: '' when nothing was said; language: BCP 47, '' when unknown; confidence of the
    transcript in [0, 1]; candidates: of each view, those that abstain too; utterance: None when nobody spoke."""

    text: str
    language: str
    confidence: float
    candidates: tuple[Candidate, ...]
    utterance: Utterance | None = None

    def as_json(self) -> dict[str, Any]:
        """The `transcript`, `candidates` and `missing` of turn.json."""
        seen = {view: Candidate.abstain(view, NOBODY, 'it did not answer in time') for view in VIEWS}
        seen |= {candidate.view: candidate for candidate in self.candidates}
        return {
            'transcript': {'text': self.text, 'language': self.language or UNKNOWN,
                           'confidence': share(self.confidence)},
            'candidates': [candidate_json(seen[view]) for view in VIEWS if not seen[view].abstains],
            'missing': [{'view': view, 'reason': seen[view].reason} for view in VIEWS if seen[view].abstains]}


@dataclass
class Senses:
    """The views and what hears for them. Times what it does as `listening` and `perception` on `watch`."""

    rooms: Rooms
    watch: Stopwatch
    _started: set[str] = field(default_factory=set)

    def load_hearing(self, given: Input) -> None:
        """Begin to load what hears the words, where there is sound."""
        if given.audio is not None:
            self._load('activity', self.rooms.activity)
            self._load('recogniser', self.rooms.recogniser)

    def load_views(self, given: Input) -> None:
        """Begin to load the views that this input needs, and to look at its images."""
        if given.seen:
            self._load('face view', self.rooms.face_view)
            self.watch.loading.start('seen', lambda: self._see(given))
        if given.audio is not None or given.text is not None:
            self._load('words', self.rooms.words)
        if given.audio is not None:
            self._load('voice view', self.rooms.voice_view)
        self._load('whole', self.rooms.whole)

    def perceive(self, given: Input) -> Perceived:
        """What was said and what each view makes of it; a view without anything to go by says why."""
        self.load_hearing(given)
        self.load_views(given)
        said = self._hear(given)
        text, language, confidence = ('', '', 0.0)
        if said is not None and said.text:
            text, language, confidence = said.text, said.language, said.confidence
        if given.text is not None:
            text, confidence = given.text, 1.0
            language = language or guess(text, given.language)
        candidates = (self._words(given, text, language), self._voice(given, said), self._face(given, said),
                      self._whole(given, text, said))
        return Perceived(text, language, confidence, candidates, said)

    def recogniser(self) -> str:
        """Name of what hears the words; only where there was sound."""
        return str(self._get('recogniser').name)

    def forget(self) -> None:
        """The next input is another visitor's."""
        for name in ('voice view', 'face view'):
            if name in self._started:
                self._get(name).forget()

    def _load(self, name: str, make: Any) -> None:
        if name not in self._started:
            self._started.add(name)
            self.watch.loading.start(name, make)

    def _get(self, name: str) -> Any:
        return self.watch.loading.get(name, patience=PATIENCE)

    def _hear(self, given: Input) -> Utterance | None:
        if given.audio is None:
            return None
        from emavatar_ros.listening.recording import hear

        activity, recogniser = self._get('activity'), self._get('recogniser')
        with self.watch('listening'):
            return hear(given.audio, activity, recogniser)

    def _see(self, given: Input) -> float:
        """Show the video to the face view, beside the hearing; returns the seconds it took."""
        view = self._get('face view')
        assert given.video is not None
        began = time.perf_counter()
        for image in given.video.images(most=IMAGES_PER_S):
            view.see(image.pixels, image.stamp)
        return time.perf_counter() - began

    def _words(self, given: Input, text: str, language: str) -> Candidate:
        if not text:
            return _missing('words', 'no words were heard' if given.audio is not None else 'no words were given')
        words = self._get('words')
        with self.watch('perception'):
            candidate: Candidate = words.read(text, language or 'en', given.history)
        return candidate

    def _voice(self, given: Input, said: Utterance | None) -> Candidate:
        if said is None:
            return _missing('voice', 'no sound was given' if given.audio is None else 'nobody speaks in the sound')
        voice = self._get('voice view')
        with self.watch('perception'):
            candidate: Candidate = voice.hear(said.audio, said.embedding)
        return candidate

    def _face(self, given: Input, said: Utterance | None) -> Candidate:
        if given.video is None or not given.seen:
            return _missing('face', 'no picture was given' if given.video is None else 'the recording has no pictures')
        face = self._get('face view')
        seeing = self.watch.loading.get('seen', counted=False, patience=PATIENCE)
        self.watch.seconds['perception'] = self.watch.seconds.get('perception', 0.0) + seeing
        # A still picture, a typed text, or pictures of another time than the words: all that was seen counts.
        start, end = 0.0, given.video.seconds
        if said is not None and said.start < given.video.seconds:
            start, end = said.start, said.end
        with self.watch('perception'):
            candidate: Candidate = face.candidate(start, end)
        return candidate

    def _whole(self, given: Input, text: str, said: Utterance | None) -> Candidate:
        whole = self._get('whole')
        pictures = pictures_of(given, whole.wanted)
        with self.watch('perception'):
            candidate: Candidate = whole.judge(text, None if said is None else said.audio, pictures, given.history)
        return candidate


def pictures_of(given: Input, most: int) -> list[Pixels]:
    """About so many pictures of a video, spread over it; none where none are wanted."""
    if not most or given.video is None or not given.seen:
        return []
    return [image.pixels for image in given.video.images(most=most / max(given.video.seconds, 0.1))]


def _missing(view: str, reason: str) -> Candidate:
    return Candidate.abstain(view, NOBODY, reason)

