"""What of a text is to be spoken: nothing but speech.

A language model writes markdown, emoji, links, stage directions, emotion tags, thinking blocks and broken JSON into its
replies. `speakable` takes them out of a whole text and writes out what espeak-ng reads badly (money, times,
abbreviations); `Speakable` does the same for a text that arrives in pieces, where a tag may be cut in two or never
closed. Cutting into clauses is clauses.py's.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from typing import Final

from emavatar_ros.voice.clauses import ends
from emavatar_ros.voice.written import written_out

_THOUGHTS: Final = 'think(?:ing)?|thought|reasoning|analysis|scratchpad|pensamiento|pensar|razonamiento'
_THINK: Final = re.compile(rf'<\s*({_THOUGHTS})\b[^>]*>.*?(?:<\s*/\s*\1\s*>|\Z)', re.S | re.I)
_THOUGHT: Final = re.compile(rf'\A.*</\s*(?:{_THOUGHTS})\s*>', re.S | re.I)
_THINK_TAG: Final = re.compile(rf'<\s*({_THOUGHTS})\b[^>]*>', re.I)
_FENCE: Final = re.compile(r'```[a-zA-Z]*\n?(.*?)(?:```|\Z)', re.S)
_LINK: Final = re.compile(r'!?\[([^\]\n]*)\]\([^)\s]*(?:\s[^)]*)?\)')
_URL: Final = re.compile(r'(?:https?://|www\.)[^\s<>")\]]*[^\s<>")\].,!?;:…]|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+')
_TAG: Final = re.compile(r'<\|(?:im_start|start_header_id)\|>\s*(?:assistant|user|system)\b|'
                         r'<\|[^|>]*\|>|<\s*/?\s*[A-Za-z!][^<>]{0,200}>|<\|[^|>]*\Z|<\s*/?\s*[A-Za-z][^<>]{0,200}\Z')
_SQUARE: Final = re.compile(r'\[[^\[\]]{0,200}\]|\{[^{}]{0,200}\}|【[^】]{0,200}】')
_STARRED: Final = re.compile(r'(?<![\w*])\*(?!\*)([^*\n]{1,120}?)\*(?![\w*])|'
                             r'(?<![\w_])_(?!_)([^_\n]{1,120}?)_(?![\w_])')
_ROUND: Final = re.compile(r'[(（]([^()（）]{0,200})[)）]')
_OPEN: Final = re.compile(r'(?:[(\[{（]|(?<![\w*])\*(?![\s*]))([^\n.!?]{0,80})')
_FIELD: Final = re.compile(
    r'^[ \t]*["*_]*(?:emotion|tone|mood|expression|instruction|style|voice|feeling|delivery|action|emoción|tono|'
    r'gefühl|ton)["*_]*[ \t]*[:=][^\n]*$', re.I | re.M)
_SPEAKER: Final = re.compile(
    r'^[ \t]*["*_#]*[ \t]*(?:assistant|avatar|reply|response|answer|text|ai)["*_]*[ \t]*:[ \t]*', re.I | re.M)
_BULLET: Final = re.compile(r'^[ \t]*(?:[-*+•·▪‣–—]|\d{1,2}[.)])[ \t]+', re.M)
_HEADING: Final = re.compile(r'^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)', re.M)
_RULE: Final = re.compile(r'^[ \t]*(?:[-=_*~|:+ ]{3,})$', re.M)
_JSON_TEXT: Final = re.compile(
    r'"(?:text|reply|response|answer|say|speech|content)"\s*:\s*"((?:[^"\\]|\\.)*)', re.S)
_JSON_LIST: Final = re.compile(r'\s*\[\s*"((?:[^"\\]|\\.)*)"\s*(?:,|\]\s*\Z)', re.S)
_JSON_TAIL: Final = re.compile(r'(?:\A|(?<=[.!?…])"|"(?=\s*,\s*"\w+"\s*:))[\s,\]}]*"\w+"\s*:\s*["[{\d].*\Z|'
                               r'"\s*[\]}]+\s*\Z', re.S)
_ENTITY: Final = re.compile(r'&(?:amp|nbsp|lt|gt|quot|apos|#\d{2,5});')
_HASHTAG: Final = re.compile(r'(?<![\w&])#[^\W\d]\w*')
_COUNTED: Final = re.compile(r'(?<=[.!?…]\s)\d{1,2}[.)]\s+(?=[A-ZÁÉÍÓÚÑ¿¡])')
_JSON_KEY: Final = re.compile(r'"?\w+"\s*:\s*(?:"|(?=[\[{\d]))')
_FACES: Final = re.compile(r'(?<!\w)(?:[:;=8xX][\'’]?-?[)(\]\[DPpOo3/\\|*](?!\w)|<3+|\^_?\^|¯\\_\(ツ\)_/¯|[xX]D+\b)')

# Words that begin a stage direction, as stems; a direction also may begin with an adverb (*softly*, *gently nods*).
_ACTS: Final = re.compile(
    r'^(?:\w+ly[ ,]+|a |an |the |with a |in a |takes? a |le |la |se )?'
    r'(?:smil|laugh|chuckl|giggl|grin|sigh|nod|paus|whisper|gasp|frown|blush|wink|shrug|lean|tilt|sniff|clear|breath|'
    r'cough|cry|cries|weep|sob|gentl|soft|warm|quiet|calm|sooth|tender|slow|cheer|happ|sad|angr|surpris|disgust|'
    r'contempt|fear|neutral|concern|empath|sympath|compassion|excit|curious|playful|serious|reassur|thought|tear|'
    r'deep breath|pat|hug|reach|touch|look|gaz|glanc|stare|wav|bow|clap|hum|sing|mumbl|mutter|groan|moan|yawn|'
    r'blink|stretch|step|sit|stand|turn|walk|hold|plac|put|rais|lower|shak|beam|smirk|snort|scoff|exhal|inhal|'
    r'speak|voice|tone|silen|beat|music|applau|emotion|expression|moment|hand|head|eye|brow|'
    r'sonr|rí|rie|risa|suspir|paus|llor|con (?:voz|tono|una son)|en (?:voz|tono)|'
    r'asient|susurr|lächel|lach|seufz|nick|flüster|sourit|rit|soupir|hoche)', re.I)
# Emphasis and asides that only look like one.
_PLAIN: Final = re.compile(r'^(?:sad|happ|angr|fear|warm|calm|quiet|slow|soft|gentl|look|hold|put|head|hand|eye|sit|'
                           r'stand|moment|thought|surpris|excit|deep|serious)\w{0,4}$', re.I)


def _direction(words: str, starred: bool) -> bool:
    """Whether words between stars or brackets tell what to do rather than what to say."""
    words = words.strip().strip('*_').strip()
    if not words or len(words.split()) > 12:
        return False
    if starred and _PLAIN.match(words) and not words.endswith('ly'):
        return False  # *sad* is emphasis; (sad) is a tag
    return bool(_ACTS.match(words)) or (starred and bool(re.match(r'^\w+(?:ly)\b[^.!?]*$', words)) and ' ' in words)


def _fields(text: str) -> str:
    """The reply inside JSON, complete or cut off; text that is no JSON passes as it is."""
    if not re.match(r'\s*(?:```\w*\s*)?[\[{]\s*["{]', text):
        return text
    one = _JSON_LIST.match(text)
    if one:
        return ' '.join(re.findall(r'"((?:[^"\\]|\\.)+)"', text)).replace('\\n', '\n').replace('\\"', '"')
    found: list[str] = []
    for value in _JSON_TEXT.findall(text):
        value = re.sub(r'\\(?:u[0-9a-fA-F]{0,3})?$', '', value)
        try:
            value = json.loads(f'"{value}"', strict=False)
        except ValueError:
            value = value.replace('\\n', '\n').replace('\\"', '"').replace('\\', '')
        if not any(value in other for other in found):  # the reply is often there whole and again in beats
            found.append(value)
    return ' '.join(found) if found else ''


def _letters(text: str) -> str:
    """Without emoji, pictures, control and private characters; blanks of any kind become one kind."""
    kept: list[str] = []
    for letter in text:
        kind = unicodedata.category(letter)
        if letter in '\n':
            kept.append(letter)
        elif letter in '\u200c\u200d':
            if kept and unicodedata.category(kept[-1])[0] in 'LM':  # joins letters in some scripts, else emoji
                kept.append(letter)
        elif letter in '°€£¥$%+&@/' or kind[0] in 'LN' or (
                kind in ('Mn', 'Mc') and letter not in '\ufe0e\ufe0f\u20e3'):
            kept.append(letter)
        elif kind == 'Zs' or letter == '\t':
            kept.append(' ')
        elif kind in ('Pd', 'Po', 'Ps', 'Pe', 'Pi', 'Pf', 'Sc') and letter not in '#*\\†‡':
            kept.append(letter)
        elif letter in '~=|_#*\\':
            kept.append(' ')
    return ''.join(kept)


def speakable(text: str, language: str = 'en') -> str:
    """The words of `text` that a voice is to say, in one line; '' when there are none.

    Takes out markdown, emoji, links, stage directions (*smiles*, (laughs), [sighs]), emotion tags, thinking blocks
    (also unclosed) and JSON around the reply; writes out money, times and abbreviations in `language` (BCP 47; known
    are en, es, fr, de: others keep them as they are). Doing it twice changes nothing.
    """
    text = unicodedata.normalize('NFC', text)
    text = _THOUGHT.sub(' ', _THINK.sub(' ', text))
    text = _fields(text)
    text = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
    text = _JSON_TAIL.sub('', text)
    text = _FENCE.sub(r'\1', text)
    text = _FIELD.sub('', text)
    text = _RULE.sub('', text)
    text = _SPEAKER.sub('', text)
    text = _LINK.sub(r'\1', text)
    text = _URL.sub('', text)
    text = _TAG.sub(' ', text)
    text = _FACES.sub(' ', text)
    text = _SQUARE.sub(' ', text)
    text = _HEADING.sub('', text)
    text = _HASHTAG.sub(' ', text)
    text = _COUNTED.sub('', _BULLET.sub('', text))
    text = text.replace('**', '').replace('__', '').replace('`', '').replace('~~', '')
    text = _STARRED.sub(lambda m: ' ' if _direction(m[1] or m[2], True) else m[1] or m[2], text)
    text = _ROUND.sub(lambda m: ' ' if _direction(m[1], False) or not m[1].strip() else f', {m[1].strip()}, ', text)
    text = _OPEN.sub(lambda m: ' ' if _direction(m[1], m[0][0] == '*') else m[0][1:], text)
    text = _JSON_KEY.sub(' ', text) if re.search(r'[{}]|"\s*:', text) else text
    text = written_out(_letters(text), language)
    return _tidy(text)


def _tidy(text: str) -> str:
    """Blanks and marks put in order; a line that ends without a mark ends with a full stop."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r'[\[\]{}()<>«»„“”"]', '', line)
        line = re.sub(r'\s+([,.;:!?…])', r'\1', line)
        line = re.sub(r'[,;:]+(?=[,;:.!?…])|^[\s,;:.!?…/@&+–—-]+(?![\w$€£¥])|^[\s,;:.!?…/@&–—]+', '', line)
        line = re.sub(r'([.!?…]),', r'\1', re.sub(r'([¡¿])[¡¿]+', r'\1', line))
        line = re.sub(r'([!?])[!?]+', r'\1', re.sub(r'\.{3,}|…+', '…', re.sub(r'(?<!\.)\.\.(?!\.)', '.', line)))
        line = ' '.join(line.split()).strip(' ,;:-–—/')
        if any(letter.isalnum() for letter in line):
            lines.append(line)
    if len(lines) > 1:
        lines = [line if re.search(r'[.!?…。！？]$', line) else line + '.' for line in lines[:-1]] + lines[-1:]
    return ' '.join(lines)


_OPENERS: Final = {'<': '>', '*': '*', '_': '_', '(': ')', '[': ']', '{': '}', '（': '）', '`': '`'}
_SETTLED: Final = re.compile(r'[.!?…]+["\'”’*_]*\s+(?=\S)|\n\s*(?=\S)|[。！？]+(?=.)')
_HOLD: Final = 240
"""Characters an unclosed bracket or star may hold the text back before it is taken for a plain sign."""


class Speakable:
    """`speakable` for a text that arrives in pieces, however cut. Feed the pieces, then close.

    Text comes out sentence by sentence, as soon as nothing is open that could turn out to be a tag; what comes out,
    joined with blanks, is what `speakable` makes of the whole. A thinking block is dropped as it comes, so memory is
    bounded by the longest sentence.
    """

    def __init__(self, language: str = 'en') -> None:
        self._language = language
        self._held = ''
        self._thinking = ''
        self._inside = ''

    def feed(self, piece: str) -> str:
        """More of the text; returns what can be spoken now, '' when nothing can yet."""
        if self._thinking:
            self._inside += piece
        else:
            self._held += piece
        self._drop_thoughts()
        if re.match(r'\s*(?:`{1,3}\w*\s*)?[\[{](?!\w)', self._held):
            return ''  # JSON is spoken when it is complete
        end = self._settled()
        ready, self._held = self._held[:end], self._held[end:]
        words = speakable(ready, self._language)
        return words + '.' if words and ready.endswith('\n') and not re.search(r'[.!?…。！？]$', words) else words

    def close(self) -> str:
        """The end of the text; returns what is left to speak."""
        left, self._held, self._inside, self._thinking = self._held, '', '', ''
        return speakable(left, self._language)

    def _drop_thoughts(self) -> None:
        """Moves through thinking blocks: `_held` is what is outside of them, `_inside` the tail of an open one."""
        while True:
            if self._thinking:
                end = re.search(rf'<\s*/\s*{self._thinking}\s*>', self._inside, re.I)
                if end is None:
                    self._inside = self._inside[-40:]  # enough to see an end tag that is cut in two
                    return
                self._held += ' ' + self._inside[end.end():]
                self._inside = self._thinking = ''
            begin = _THINK_TAG.search(self._held)
            if begin is None:
                return
            self._thinking, self._inside = begin[1], self._held[begin.end():]
            self._held = self._held[:begin.start()]

    def _settled(self) -> int:
        """How much of what is held can go: up to the last end of a sentence before anything still open."""
        held, last, place = self._held, 0, 0
        while place < len(held):
            sign = held[place]
            if sign in _OPENERS and (sign not in '*_' or not held[place - 1:place].isalnum()):
                close = held.find(_OPENERS[sign], place + 1)
                if close >= 0:
                    place = close + 1
                    continue
                if len(held) - place < _HOLD and '\n' not in held[place:]:
                    return last
            end = _SETTLED.match(held, place)
            if end is None:
                place += 1
                continue
            place = end.end()
            whole = ends(held[:place], held[place:])
            if whole is None:
                return last
            if whole:  # no stop of an abbreviation
                last = place
        return last
