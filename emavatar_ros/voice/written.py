"""Signs written out as words, where espeak-ng reads them badly: money, clock times, ranges, abbreviations; the rest of
the numbers are figures.py's.

espeak-ng reads plain numbers, decimals, thousands, ordinals and years well in every language; those stay digits.
"""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.voice.clauses import DAYS, STARTERS
from emavatar_ros.voice.figures import figures

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
    'en': {'Dr.': 'Doctor', 'Mr.': 'Mister', 'Mrs.': 'Missus', 'Ms.': 'Miz', 'Prof.': 'Professor',
           'e.g.': 'for example', 'i.e.': 'that is', 'vs.': 'versus', 'etc.': 'et cetera', 'approx.': 'about',
           'a.k.a.': 'also known as', 'dept.': 'department', 'Ave.': 'Avenue', 'Blvd.': 'Boulevard', 'Rd.': 'Road',
           'tel.': 'telephone', 'Tel.': 'telephone', 'min.': 'minutes', 'max.': 'at most', 'incl.': 'including',
           'a.m.': 'AM', 'p.m.': 'PM', 'w/': 'with', 'w/o': 'without', 'Jr.': 'Junior',
           'Sr.': 'Senior', 'Mt.': 'Mount', 'U.S.': 'US', 'U.K.': 'UK'},
    'es': {'Dr.': 'doctor', 'Dra.': 'doctora', 'Sr.': 'señor', 'Sra.': 'señora', 'Srta.': 'señorita',
           'Sres.': 'señores', 'Dña.': 'doña', 'Ud.': 'usted', 'Uds.': 'ustedes', 'p. ej.': 'por ejemplo',
           'p.ej.': 'por ejemplo', 'etc.': 'etcétera', 'núm.': 'número', 'Avda.': 'avenida', 'Av.': 'avenida',
           'C/': 'calle', 'pág.': 'página', 'tel.': 'teléfono', 'Tel.': 'teléfono', 'aprox.': 'aproximadamente',
           'máx.': 'como mucho', 'mín.': 'como mínimo', 'EE. UU.': 'Estados Unidos', 'EE.UU.': 'Estados Unidos',
           'izq.': 'izquierda', 'dcha.': 'derecha'},
    'fr': {'M.': 'monsieur', 'Mme.': 'madame', 'Dr.': 'docteur', 'etc.': 'et cetera', 'p. ex.': 'par exemple'},
    'de': {'Dr.': 'Doktor', 'z. B.': 'zum Beispiel', 'z.B.': 'zum Beispiel', 'd.h.': 'das heißt',
           'usw.': 'und so weiter', 'Hr.': 'Herr', 'Fr.': 'Frau', 'Nr.': 'Nummer', 'bzw.': 'beziehungsweise'}}
_CODES: Final = {'USD': '$', 'EUR': '€', 'GBP': '£', 'JPY': '¥'}
_SCALES: Final = {'en': {'k': 'thousand', 'm': 'million', 'bn': 'billion'}, 'es': {'k': 'mil', 'm': 'millones'}}
_ENDING: Final = frozenset({'etc.', 'a.m.', 'p.m.', 'U.S.', 'U.K.', 'usw.'})
"""Abbreviations that may also end a sentence; their stop stays where one plainly does."""


def _money(language: str, sign: str, amount: str, scale: str) -> str:
    one, many, cent, cents = _MONEY[language][sign]
    whole, _, part = amount.partition('.' if language == 'en' else ',')
    if scale:
        scale = _SCALES.get(language, {}).get(scale.strip().lower(), scale.strip())
        of = ' de' if scale in ('millones', 'millón') else ''
        return f'{amount} {scale}{of} {many}'
    words = f'{whole} {one if whole == "1" else many}'
    if whole == '0' and len(part) == 2 and part != '00':
        return f'{int(part)} {cent if part == "01" else cents}'
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


def _half_day(found: re.Match[str]) -> str:
    """8 p. m. in Spanish: which part of the day it is."""
    hour = int(re.split('[:.]', found[1])[0])
    part = 'mañana' if found[2].lower() == 'a' else 'noche' if 9 <= hour <= 11 else 'tarde'
    ends = found[0].endswith('.') and not found.string[found.end():].strip()
    return f'{found[1]} de la {part}' + '.' * ends


def written_out(text: str, language: str) -> str:
    """`text` with money, times, ranges and abbreviations as words. language: BCP 47; only en, es, fr and de are known,
    text in any other comes back as it is."""
    tongue = language.strip().lower().replace('_', '-').split('-')[0]
    if tongue not in _MONEY:
        return text
    comma, point = (',', r'\.') if tongue == 'en' else (r'\.', ',')
    text = figures(re.sub(r'(\d:\d\d)\s?(?:h|hrs?)\b\.?(?!\w)', r'\1', text), language)
    for code, sign in _CODES.items():
        text = re.sub(rf'\b{code}\s?(?=\d)|(?<=\d)\s?{code}\b', sign, text)
    digits = rf'\d{{1,3}}(?:{comma}\d{{3}})+(?:{point}\d+)?|\d+(?:{point}\d+)?'
    scale = r'(\s(?:thousand|million|billion|mil|millones|mille|millions|tausend|Millionen)\b|(?:k|K|M|bn)\b)?'
    text = re.sub(rf'([$€£¥])\s?({digits}){scale}', lambda m: _money(tongue, m[1], m[2], m[3] or ''), text)
    text = re.sub(rf'({digits}){scale}\s?([$€£¥])', lambda m: _money(tongue, m[3], m[1], m[2] or ''), text)
    if tongue == 'en':
        # 9:00 am: the hour says it all; 9am is two words; Main St. is no saint; No. alone is an answer.
        text = re.sub(r'\b(\d{1,2}):00(?=\s?[ap]\.?m\b)', r'\1', text, flags=re.I)
        text = re.sub(r'(?<=\d)\s?([ap])m\b', lambda m: f' {m[1].upper()}M', text, flags=re.I)
        text = re.sub(r'(?<=\d)(?=[ap]\.m\.)', ' ', text)
        text = re.sub(rf'(?<=[a-z]\s)St\.(?=\s+{STARTERS}|\s*$)', 'Street.', text)
        text = re.sub(r'\bSt\.(?=\s[A-Z])', 'Saint', text)
        text = re.sub(r'(?<=[a-z]\s)St\.(?=[\s,;])', 'Street', text)
        text = re.sub(r'\bNo\.\s?(?=\d)', 'number ', text)
    if tongue == 'es':
        text = re.sub(r'(\b\d{1,2}(?:[:.]\d\d)?)\s?([ap])\.?\s?m\b\.?', _half_day, text)
    text = re.sub(r'(?<=\d:\d\d)\s?[–-]\s?(?=\d{1,2}:\d\d)', f' {_TO[tongue]} ', text)
    text = re.sub(r'\b([01]?\d|2[0-3]):([0-5]\d)(?!:?\d)', lambda m: _clock(tongue, m[1], m[2]), text)
    text = re.sub(r'(?<![\d-])(\d+)\s?[–-]\s?(\d+)(?![\d-])', rf'\1 {_TO[tongue]} \2', text)
    for short, word in _SHORT[tongue].items():
        pattern = rf'(?<![\w.]){re.escape(short)}' + ('' if short.endswith(('.', '/')) else r'\b')
        if short in _ENDING:  # before a capital, or at the end, it closes the sentence
            begins = STARTERS if word in ('US', 'UK') else rf'(?!{DAYS})[A-ZÁÉÍÓÚÄÖÜ]'
            text = re.sub(pattern + rf'(?=\s+{begins}|\s*$)', word + '.', text)
        text = re.sub(pattern + r'(?=\s|,|;|:|$)', word, text)
    for sign, word in _WORDS[tongue].items():
        if sign == '+':
            text = re.sub(r'(?<=\d)\s?\+\s?(?=\d)', f' {word} ', text).replace('+', ' ')
        elif sign in '&@':
            text = re.sub(rf'\s*{sign}\s*', f' {word} ', text)
        else:
            text = re.sub(rf'(?<=\d)\s?{sign}', f' {word}', text)
    return re.sub(r'[$€£¥°]', ' ', text)
