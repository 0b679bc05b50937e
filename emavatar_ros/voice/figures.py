"""Dates, telephone numbers, units, fractions and ordinals written out, in English and Spanish.

What espeak-ng reads well stays: plain numbers, decimals, years, English ordinals. Money, clock times and abbreviations
are written.py's.
"""

from __future__ import annotations

import re
from typing import Final

_MONTHS: Final = {
    'en': ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October',
    'November', 'December'],
    'es': ['enero', 'febrero', 'marzo', 'abril', 'mayo', 'junio', 'julio', 'agosto', 'septiembre', 'octubre',
    'noviembre', 'diciembre']}
_UNITS: Final[dict[str, dict[str, tuple[str, str]]]] = {  # one, many; longer signs first
    'en': {'km/h': ('kilometre per hour', 'kilometres per hour'), 'mph': ('mile per hour', 'miles per hour'),
           'm/s': ('metre per second', 'metres per second'), 'm²': ('square metre', 'square metres'),
           'km': ('kilometre', 'kilometres'), 'cm': ('centimetre', 'centimetres'), 'mm': ('millimetre', 'millimetres'),
           'kg': ('kilogram', 'kilograms'), 'mg': ('milligram', 'milligrams'), 'ml': ('millilitre', 'millilitres'),
           'lbs': ('pound', 'pounds'), 'lb': ('pound', 'pounds'), 'oz': ('ounce', 'ounces'), 'ft': ('foot', 'feet'),
           'mi': ('mile', 'miles'), 'GB': ('gigabyte', 'gigabytes'), 'MB': ('megabyte', 'megabytes'),
           'kWh': ('kilowatt hour', 'kilowatt hours'), 'hrs': ('hour', 'hours'), 'hr': ('hour', 'hours'),
           'mins': ('minute', 'minutes'), 'min': ('minute', 'minutes'), 'secs': ('second', 'seconds'),
           'sec': ('second', 'seconds'), 'h': ('hour', 'hours'), 'm': ('metre', 'metres'), 'g': ('gram', 'grams'),
           'l': ('litre', 'litres')},
    'es': {'km/h': ('kilómetro por hora', 'kilómetros por hora'), 'm/s': ('metro por segundo', 'metros por segundo'),
           'm²': ('metro cuadrado', 'metros cuadrados'), 'km': ('kilómetro', 'kilómetros'),
           'cm': ('centímetro', 'centímetros'), 'mm': ('milímetro', 'milímetros'), 'kg': ('kilo', 'kilos'),
           'mg': ('miligramo', 'miligramos'), 'ml': ('mililitro', 'mililitros'), 'GB': ('gigabyte', 'gigabytes'),
           'MB': ('megabyte', 'megabytes'), 'kWh': ('kilovatio hora', 'kilovatios hora'), 'min': ('minuto', 'minutos'),
           'seg': ('segundo', 'segundos'), 'h': ('hora', 'horas'), 'm': ('metro', 'metros'), 'g': ('gramo', 'gramos'),
           'l': ('litro', 'litros')}}
_PARTS: Final = {'en': {'1/2': 'one half', '1/3': 'one third', '2/3': 'two thirds', '1/4': 'one quarter',
                        '3/4': 'three quarters'},
                 'es': {'1/2': 'medio', '1/3': 'un tercio', '2/3': 'dos tercios', '1/4': 'un cuarto',
                        '3/4': 'tres cuartos'}}
_SIGNS: Final = {'½': '1/2', '⅓': '1/3', '⅔': '2/3', '¼': '1/4', '¾': '3/4'}
_ORDINALS: Final = ['primer', 'segund', 'tercer', 'cuart', 'quint', 'sext', 'séptim', 'octav', 'noven', 'décim']
_DAY_FIRST: Final = frozenset({'gb', 'ie', 'au', 'nz', 'in', 'za'})
_PHONE: Final = re.compile(
    r'(?<![\w.,:/$€£-])(\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?|\d{2,4}[ .-]){1,5}\d{2,4}(?![\w%€$£]|[.,:/-]\d)|'
    r'(?<![\w.,:/$€£-])(?:\+\d{8,14}|\d{9,10})(?![\w%€$£]|[.,:/-]\d)')
_UNIT_ENDS: Final = r'(?:\.(?=\s[a-záéíóú])|(?![\w²³/]|\.\w))'
_EMERGENCY: Final = re.compile(
    r'\b(call|dial|ring|llam\w+ al|marc\w+ el|(?:emergency )?number is|el número es el)( )(\d{3})\b(?![.,:/-]?\d)',
         re.I)


def figures(text: str, language: str) -> str:
    """`text` with dates, telephone numbers, units, fractions and Spanish ordinals as words. language: BCP 47, en or es
    (numeric dates are month first in English but for en-GB and its like); text in any other comes back as it is."""
    tags = language.strip().lower().replace('_', '-').split('-')
    tongue, day_first = tags[0], tags[0] == 'es' or bool(_DAY_FIRST & set(tags[1:]))
    if tongue not in _MONTHS:
        return text
    text = re.sub(r'(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])',
                  lambda m: _date(tongue, day_first, m[3], m[2], m[1]) or m[0], text)
    text = re.sub(r'(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-])',
                  lambda m: _numeric(tongue, day_first, m[1], m[3], m[4]) or m[0], text)
    if tongue == 'en':
        text = re.sub(rf'\b({"|".join(name[:3] for name in _MONTHS["en"])}|Sept)\.\s?(?=\d)',
                      lambda m: next(name for name in _MONTHS['en'] if name.startswith(m[1][:3])) + ' ', text)
    text = _EMERGENCY.sub(lambda m: f'{m[1]}{m[2]}{" ".join(m[3])}', text)
    text = _PHONE.sub(lambda m: _phone(tongue, m[0]), text)
    text = _fractions(text, tongue)
    for sign, words in _UNITS[tongue].items():
        text = _unit(text, sign, *words)
    minus = {'en': 'minus ', 'es': 'menos '}[tongue]
    text = re.sub(r'(?<![\w.,)])[-−](?=\d+(?:[.,]\d+)?(?:\s?°|\s(?:degrees|grados)))', minus, text)
    if tongue == 'es':
        text = re.sub(r'(?<![\d.,])(\d+)\.(\d{1,2})(?![\d.,])', r'\1,\2', text)
        text = re.sub(r'(?<!\w)(\d{1,2})\.?(er|º|ª|°(?=\s[a-záéíóú]))(?!\w)', _ordinal, text)
        text = re.sub(r'(?<!\w)n\.?[º°]\s?(?=\d)', 'número ', text, flags=re.I)
    return text


def _unit(text: str, sign: str, one: str, many: str) -> str:
    """"5 km" as "5 kilometres"."""
    text = re.sub(rf'(?<![\w.,:])1\s?{re.escape(sign)}{_UNIT_ENDS}', f'1 {one}', text)
    return re.sub(rf'(?<![\w.,:])(\d+(?:[.,]\d+)*)\s?{re.escape(sign)}{_UNIT_ENDS}', rf'\1 {many}', text)


def _date(tongue: str, day_first: bool, day: str, month: str, year: str) -> str | None:
    """A date in words, None when there is no such day."""
    number, name = int(day), int(month)
    if not (1 <= number <= 31 and 1 <= name <= 12):
        return None
    year = f'20{year}' if len(year) == 2 else year
    spoken = _MONTHS[tongue][name - 1]
    if tongue == 'es':
        return f'{number} de {spoken} de {year}'
    return f'{number} {spoken} {year}' if day_first else f'{spoken} {number}, {year}'


def _numeric(tongue: str, day_first: bool, first: str, second: str, year: str) -> str | None:
    if day_first or int(first) > 12:
        return _date(tongue, day_first, first, second, year)
    return _date(tongue, day_first, second, first, year)


def _phone(tongue: str, found: str) -> str:
    """A telephone number digit by digit, group by group; other numbers as they are."""
    digits = re.sub(r'\D', '', found)
    groups = re.findall(r'\d+', found)
    # 1.000.000 in Spanish is a number.
    dotted = tongue == 'es' and '.' in found and '+' not in found and all(len(part) == 3 for part in groups[1:])
    if not 7 <= len(digits) <= 15 or dotted or len({*re.findall(r'[ .-]', found)}) > 2:
        return found
    if len(groups) == 2 and '-' in found and len(groups[0]) == len(groups[1]) == 4:
        return found  # a range of years
    if len(groups) == 1:
        groups = re.findall(r'\d{1,3}', digits)
    plus = {'en': 'plus ', 'es': 'más '}[tongue] if found.startswith('+') else ''
    return plus + ', '.join(' '.join(group) for group in groups)


def _fractions(text: str, tongue: str) -> str:
    half = {'en': ' and a half', 'es': ' y medio'}[tongue]
    text = re.sub(r'(?<=\d)\s?(?:½| 1/2(?![/\d]))', half, text)
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    for plain, words in _PARTS[tongue].items():
        text = re.sub(rf'(?<![\d/.,]){plain}(?![\d/]|[.,]\d)', words, text)
    text = re.sub(r'(?<![\d/])24/7(?![\d/])', '24 7', text)
    between = {'en': 'out of', 'es': 'de'}[tongue]
    return re.sub(r'(?<![\d/.,])(\d{1,3})/(\d{1,3})(?![\d/]|[.,]\d)', rf'\1 {between} \2', text)


def _ordinal(found: re.Match[str]) -> str:
    """Spanish ordinals to the tenth; later ones are said as plain numbers."""
    number = int(found[1])
    if not 1 <= number <= 10:
        return found[1]
    stem = _ORDINALS[number - 1]
    return stem if found[2] == 'er' else stem + ('a' if found[2] == 'ª' else 'o')
