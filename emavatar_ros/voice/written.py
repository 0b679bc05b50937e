"""Signs written out as words, where espeak-ng reads them badly: money, clock times, ranges, abbreviations.

espeak-ng reads plain numbers, decimals, thousands, ordinals and years well in every language; those stay digits.
"""

from __future__ import annotations

import re
from typing import Final

_MONEY: Final[dict[str, dict[str, tuple[str, str, str, str]]]] = {  # one, many, hundredth, hundredths
    'en': {'$': ('dollar', 'dollars', 'cent', 'cents'), '€': ('euro', 'euros', 'cent', 'cents'),
           '£': ('pound', 'pounds', 'penny', 'pence'), '¥': ('yen', 'yen', 'sen', 'sen')},
    'es': {'$': ('dólar', 'dólares', 'centavo', 'centavos'), '€': ('euro', 'euros', 'céntimo', 'céntimos'),
           '£': ('libra', 'libras', 'penique', 'peniques'), '¥': ('yen', 'yenes', 'sen', 'sen')},
    'fr': {'$': ('dollar', 'dollars', 'cent', 'cents'), '€': ('euro', 'euros', 'centime', 'centimes'),
           '£': ('livre', 'livres', 'penny', 'pence'), '¥': ('yen', 'yens', 'sen', 'sen')},
    'de': {'$': ('Dollar', 'Dollar', 'Cent', 'Cent'), '€': ('Euro', 'Euro', 'Cent', 'Cent'),
           '£': ('Pfund', 'Pfund', 'Penny', 'Pence'), '¥': ('Yen', 'Yen', 'Sen', 'Sen')}}
_AND: Final = {'en': 'and', 'es': 'con', 'fr': 'et', 'de': 'und'}
_TO: Final = {'en': 'to', 'es': 'a', 'fr': 'à', 'de': 'bis'}
_WORDS: Final[dict[str, dict[str, str]]] = {
    'en': {'&': 'and', '%': 'percent', '°C': 'degrees Celsius', '°F': 'degrees Fahrenheit', '°': 'degrees',
           '+': 'plus', '@': 'at'},
    'es': {'&': 'y', '%': 'por ciento', '°C': 'grados', '°F': 'grados Fahrenheit', '°': 'grados', '+': 'más',
           '@': 'arroba'},
    'fr': {'&': 'et', '%': 'pour cent', '°C': 'degrés', '°F': 'degrés Fahrenheit', '°': 'degrés', '+': 'plus',
           '@': 'arobase'},
    'de': {'&': 'und', '%': 'Prozent', '°C': 'Grad', '°F': 'Grad Fahrenheit', '°': 'Grad', '+': 'plus', '@': 'at'}}
_SHORT: Final[dict[str, dict[str, str]]] = {
    'en': {'Dr.': 'Doctor', 'Mr.': 'Mister', 'Mrs.': 'Missus', 'Ms.': 'Miz', 'Prof.': 'Professor', 'St.': 'Saint',
           'e.g.': 'for example', 'i.e.': 'that is', 'vs.': 'versus', 'etc.': 'et cetera', 'approx.': 'about',
           'No.': 'number', 'a.m.': 'AM', 'p.m.': 'PM', 'w/': 'with', 'w/o': 'without', 'Jr.': 'Junior',
           'Sr.': 'Senior', 'Mt.': 'Mount', 'U.S.': 'US', 'U.K.': 'UK'},
    'es': {'Dr.': 'doctor', 'Dra.': 'doctora', 'Sr.': 'señor', 'Sra.': 'señora', 'Srta.': 'señorita',
           'Ud.': 'usted', 'Uds.': 'ustedes', 'p. ej.': 'por ejemplo', 'etc.': 'etcétera', 'núm.': 'número'},
    'fr': {'M.': 'monsieur', 'Mme.': 'madame', 'Dr.': 'docteur', 'etc.': 'et cetera', 'p. ex.': 'par exemple'},
    'de': {'Dr.': 'Doktor', 'z. B.': 'zum Beispiel', 'z.B.': 'zum Beispiel', 'd.h.': 'das heißt',
           'usw.': 'und so weiter', 'Hr.': 'Herr', 'Fr.': 'Frau', 'Nr.': 'Nummer', 'bzw.': 'beziehungsweise'}}
_ENDING: Final = frozenset({'etc.', 'a.m.', 'p.m.', 'U.S.', 'U.K.', 'usw.'})
"""Abbreviations that may also end a sentence; their stop stays where one plainly does."""


def _money(language: str, sign: str, amount: str, scale: str) -> str:
    one, many, cent, cents = _MONEY[language][sign]
    whole, _, part = amount.partition('.' if language == 'en' else ',')
    if scale:
        return f'{amount} {scale.strip()} {many}'
    words = f'{whole} {one if whole == "1" else many}'
    if len(part) == 2 and part != '00':
        words += f' {_AND[language]} {int(part)} {cent if part == "01" else cents}'
    elif part and len(part) != 2:
        return f'{amount} {many}'
    return words


def _clock(language: str, hours: str, minutes: str) -> str:
    hour, minute = int(hours), int(minutes)
    if language == 'en':
        if minute == 0:
            return f"{hour} o'clock" if 0 < hour <= 12 else f'{hour} hundred' if hour else 'midnight'
        return f'{hour} oh {minute}' if minute < 10 else f'{hour} {minute}'
    between = {'es': 'y', 'fr': 'heures', 'de': 'Uhr'}[language]
    if minute == 0:
        return {'es': f'{hour} en punto', 'fr': f'{hour} heures', 'de': f'{hour} Uhr'}[language]
    return f'{hour} {between} {minute}'


def written_out(text: str, language: str) -> str:
    """`text` with money, times, ranges and abbreviations as words. language: BCP 47; only en, es, fr and de are known,
    text in any other comes back as it is."""
    tongue = language.strip().lower().replace('_', '-').split('-')[0]
    if tongue not in _MONEY:
        return text
    comma, point = (',', r'\.') if tongue == 'en' else (r'\.', ',')
    digits = rf'\d{{1,3}}(?:{comma}\d{{3}})+(?:{point}\d+)?|\d+(?:{point}\d+)?'
    scale = r'(\s(?:thousand|million|billion|mil|millones|mille|millions|tausend|Millionen)\b)?'
    text = re.sub(rf'([$€£¥])\s?({digits}){scale}', lambda m: _money(tongue, m[1], m[2], m[3] or ''), text)
    text = re.sub(rf'({digits}){scale}\s?([$€£¥])', lambda m: _money(tongue, m[3], m[1], m[2] or ''), text)
    if tongue == 'en':  # 9:00 am: the hour says it all
        text = re.sub(r'\b(\d{1,2}):00(?=\s?[ap]\.?m\b)', r'\1', text, flags=re.I)
    text = re.sub(r'\b([01]?\d|2[0-3]):([0-5]\d)(?!:?\d)', lambda m: _clock(tongue, m[1], m[2]), text)
    text = re.sub(r'(?<![\d-])(\d+)\s?[–-]\s?(\d+)(?![\d-])', rf'\1 {_TO[tongue]} \2', text)
    for short, word in _SHORT[tongue].items():
        pattern = rf'(?<![\w.]){re.escape(short)}' + ('' if short.endswith(('.', '/')) else r'\b')
        if short in _ENDING:  # before a capital, or at the end, it closes the sentence
            text = re.sub(pattern + r'(?=\s+[A-ZÁÉÍÓÚÄÖÜ]|\s*$)', word + '.', text)
        text = re.sub(pattern + r'(?=\s|,|;|:|$)', word, text)
    for sign, word in _WORDS[tongue].items():
        if sign == '+':
            text = re.sub(r'(?<=\d)\s?\+\s?(?=\d)', f' {word} ', text).replace('+', ' ')
        elif sign in '&@':
            text = re.sub(rf'\s*{sign}\s*', f' {word} ', text)
        else:
            text = re.sub(rf'(?<=\d)\s?{sign}', f' {word}', text)
    return re.sub(r'[$€£¥°]', ' ', text)
