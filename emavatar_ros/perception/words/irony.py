"""The usual forms of irony in English: praise of something unwelcome, thanks for nothing, and set phrases.

A form is a cue, not proof: "Great, another meeting" is nearly always meant the other way round, but nothing in it
says so. What a form finds only takes certainty away (`turned`). "Great, thanks!" must stay what it is.
"""

from __future__ import annotations

import re
from typing import Final

from emavatar_ros.emotion.distribution import Distribution
from emavatar_ros.emotion.labels import LABELS
from emavatar_ros.perception.words.phrases import one_of, phrases, plain

_ADJECTIVE: Final = (r'(?:great|wonderful|fantastic|perfect|lovely|brilliant|terrific|marvell?ous|super|nice|amazing|'
                     r'awesome|fabulous|charming|delightful|splendid|excellent|good)')
_PRAISE: Final = (
    r"(?:(?:oh|well|yeah|wow|ah|just|that's|thats|how|so|really|absolutely|simply)[ ,]+)*" + one_of(rf"""
    {_ADJECTIVE}(?: (?:job|work|one|going|service))?
    (?:what a )?joy
    (?:what a|big) surprise
    bravo|yay|hooray|hurray|congratulations|well done|lucky me
    (?:thanks|thank you)(?: so much| a lot| a bunch)?(?: for (?:your|the|all your) help)?
    """))
_UNWELCOME: Final = phrases(r"""
    delay(?:s|ed)?|cancell?ed|broken?|crash(?:ed|es)?|fail(?:ed|s|ures?)?|jam(?:med|s)?|blocked|declined|rejected|refused
    (?:is|are|was|'s|'re|i'm|running|hours?|minutes?|too|be) late|\w+'s late|late again
    lost|stolen|ruined|spilled|frozen|flooded|expired|overdue|overcharged|swallowed|eaten my|leak(?:s|ing|ed)?
    waiting(?! for you)|wait (?:for|another|an|a|two|three|so|until)
    traffic|stuck|queue|queu(?:ing|eing)|on hold|overtime|homework|detention|strike|errors?|headache
    bills?|tax(?:es)?|(?:a|another|parking|library) fine|fines|more expensive|price (?:has |have )?(?:gone |went )?up
    rain(?:s|ing)?|pouring|mondays?|flat tyre|puncture|closed|shut|sold out|out of (?:order|service|paper|stock)
    died|dead|missed|wrong|worse|useless|nobody|again|start (?:all )?over|from (?:the beginning|scratch)
    (?:stone|ice|gone) cold|cold (?:coffee|food|soup|shower)
    (?:\w+n't|not|never)(?: even)? (?:work|open|help|come|start|load|fit|move|answer|use|get|find|leave)(?:ing|s|ed)?
    no (?:one|seats?|signal|power|(?:hot )?water|wifi|internet|tickets?|chairs?|staff|paper|change)
    """)
_RELIEF: Final = phrases(r"""
    found|fixed|repaired|saved|solved|works (?:again|now)|it works|on time|after all|we're done|back again|see you
    (?:is|are|it's|they're|you're|we're|still) (?:open|free|back|working|over|gone|fine)
    no longer|no more|thanks?|thank you|so glad|welcome|avoid|instead of|stopped raining
    (?:\w+n't|not|never|without)(?: \w+)? (?:broken|late|cancelled|lost|closed|wait|waiting|delayed|rain)
    """)
"""Good news beside the praise: then it is meant."""
_MORE: Final = re.compile(r'(?:just )?(?:yet )?(?:another|one more|even more|again)\b', re.I)
_PLEASANT: Final = phrases(r"""
    (?:another|more|\d+) (?:\w+ )?(?:goal|win|point|bab(?:y|ies)|cake|gift|chance|victory|medal|beer|drink|grand\w+)s?
    (?:another|more) (?:\w+ )?(?:success|present|friend|reason to|song|holiday|biscuit|cookie|round|day (?:with|off))
    another one|one more and
    """)
# A recogniser may leave the comma out: "Great another delay".
_BEFORE: Final = re.compile(rf'^\W*{_PRAISE}(?: ?[,.!;:…-]+ ?| (?=(?:just |yet )?another\b))(?:and |now |just )?'
                            r'(?P<rest>\w.+)$', re.I)
_AFTER: Final = re.compile(rf"^(?P<rest>.{{6,}}?)[.!,;…-]+ ?(?:how |just |oh,? |well,? |that's just )*{_ADJECTIVE}\W*$",
                           re.I)
_SET: Final = phrases(r"""
    thanks? (?:you )?(?:so much |a lot |a bunch |very much )?for (?:nothing|not \w+|never \w+|the warning)
    thanks? (?:you )?(?:so much |a lot )?for (?:wasting|ruining|breaking|losing)
    thanks? (?:you )?(?:so much |a lot )?for (?:making|letting|keeping) (?:me|us) wait\w*
    just my luck|lucky (?:old |little )?(?:me|us)(?= ?[,.!…]|$)(?!\W+(?:i|we) (?:got|won|found|made|have))
    love (?:that|this) for (?:me|us)
    (?:big|huge) (?:surprise|shock)|what a shock(?:er)?|(?:colour|color) me (?:surprised|shocked|impressed)
    how (?:very )?(?:original|convenient|thoughtful)(?= ?[.!…]|$)
    (?:nice|kind|good|thoughtful|generous|sweet) of (?:you|them|him|her) to (?:finally|at last|show up|join us|grace)
    (?:well done|(?:good|nice|great) (?:job|one|work)|bravo|congratulations),? (?:genius|einstein|sherlock|captain)
    tell me something i don't know|what could possibly go wrong|aren't (?:you|we) (?:clever|special|lucky|helpful)
    because (?:that|it) (?:always |really )?(?:works|worked|went|helps|helped) so well
    (?:as if|not as if|like) (?:i|we) (?:had|have|'ve) (?:nothing (?:better|else)|all day|anything|a train)
    (?:big|great|some|a lot of) help (?:you|that|this|they) (?:are|were|was|is)
    so much for (?:the|your|that|being)|so (?:now )?it's my fault
    think of that all by (?:yourself|itself|himself|herself)
    because .*(?:isn't|wasn't|aren't|weren't) .*enough|(?:i'd|i would) (?:appreciate|love) it (?:even )?more if
    (?:isn't|wasn't) (?:that|this|it) just (?:great|perfect|wonderful|lovely|typical)
    (?:thrilled|overjoyed|delighted|glad) (?:to (?:wait|pay|queue|be (?:stuck|late|ignored))|i (?:waited|paid|queued))
    (?:i|we) (?:just |really |simply |do |so )*(?:love|adore|enjoy) (?:waiting|queu\w+|standing in line)
    (?:i|we) (?:just |really |simply |do |so )*(?:love|adore|enjoy) being (?:ignored|lied to|ripped off|late|stuck)
    """)
_WHOLE: Final = re.compile(one_of(r"""
    (?:yeah|oh|ha),? (?:right|sure)(?:\W+\w.*)?
    (?:oh[, ]+)?(?:please[, ]+)?as if(?: .*)?
    (?:yes|yeah|sure|right|oh good|of course)[,.]? because .*
    (?:oh|ha[ -]?ha|yeah|well)?\W*very (?:funny|clever|helpful)
    (?:well,? |oh,? )*that's just (?:great|perfect|brilliant|fantastic|peachy|dandy|marvell?ous|wonderful)
    (?:oh |please )?do tell me more.*
    """) + r'\W*', re.I)
_LOVE: Final = re.compile(r"\b(?:i|we) (?:just |really |simply |do |so )*(?:love|adore) (?:it when|how|when|standing|"
                          r"sitting|paying|spending)\b(?P<rest>.*)", re.I)
_NEEDED: Final = re.compile(r"(?P<meant>\b(?:that|this|it|which)(?:'s| is| was)\W+)?(?P<how>\bjust|\bexactly) what "
                            r"(?:i|we|my day|this day) (?:really )?(?:needed|wanted)\b(?P<rest>.*)", re.I)
_MEANT: Final = {'angry': 0.5, 'contempt': 0.22, 'sad': 0.2, 'disgusted': 0.08}
"""What praise of something unwelcome usually means."""


def framed(text: str) -> bool:
    """True when the text has one of irony's usual forms."""
    text = plain(text)
    if _SET.search(text) or _WHOLE.fullmatch(text.lstrip(' .,!-…"\'')):
        return True
    if any(_UNWELCOME.search(rest) or (before and _MORE.match(rest)) for rest, before in _parts(text)):
        return True
    if (love := _LOVE.search(text)) and _UNWELCOME.search(love['rest']) and not _RELIEF.search(love['rest']):
        return True
    needed = _NEEDED.search(text)
    if not needed or re.search(r'\bthank|\bperfect\b', text, re.I):
        return False
    # "That's exactly what I needed" is meant, "just what I needed" alone seldom is.
    alone = needed['how'].lower() == 'just' and not needed['meant']
    return bool(alone or _UNWELCOME.search(needed['rest']))


def praised(text: str) -> str | None:
    """What is praised, three words or more, in a text that begins or ends with a word of praise; None in any other."""
    return next((rest for rest, _ in _parts(plain(text)) if len(rest.split()) >= 3), None)


def _parts(text: str) -> list[tuple[str, bool]]:
    """What stands after (True) or before (False) a word of praise, unless it is plainly good."""
    found = [(match['rest'], pattern is _BEFORE) for pattern in (_BEFORE, _AFTER) if (match := pattern.search(text))]
    return [(rest, before) for rest, before in found if not _RELIEF.search(rest) and not _PLEASANT.search(rest)]


def turned(distribution: Distribution, share: float = 0.6) -> Distribution:
    """The same reading, were it partly meant the other way round: `share` of the happiness, and half as much of the
    calm, becomes what irony hides."""
    p = distribution.array
    taken = 0.0
    for label, part in (('happy', share), ('neutral', share / 2)):
        taken += p[LABELS.index(label)] * part
        p[LABELS.index(label)] *= 1 - part
    for label, part in _MEANT.items():
        p[LABELS.index(label)] += taken * part
    return Distribution.of(p)
