"""A typed line's language: told by script and small words, left as expected when it isn't clear."""

from __future__ import annotations

import pytest

from emavatar_ros.language import guess


@pytest.mark.parametrize(('text', 'expected', 'found'), [
    ('I lost my keys and I am sad about it.', 'es', 'en'),
    ('He perdido las llaves y estoy muy triste.', 'en', 'es'),
    ("J'ai perdu les clés et je suis très triste.", 'en', 'fr'),
    ('Ich habe den Schlüssel verloren und bin traurig.', 'en', 'de'),
    ('Ho perso le chiavi e sono molto triste per questo.', 'en', 'it'),
    ('Eu perdi as chaves e estou muito triste com isso.', 'en', 'pt'),
    ('鍵をなくして、とても悲しいです。', 'en', 'ja'), ('我把钥匙丢了，很难过。', 'en', 'zh'),
    ('मैंने अपनी चाबियाँ खो दीं।', 'en', 'hi'),
    ('Great, another meeting.', 'en', 'en'), ('Hola', 'en', 'en'), ('ok', 'es', 'es'), ('42!', 'en', 'en'),
    ('No, no, no!', 'en', 'en'), ('No me lo digas, por favor.', 'en', 'es'),
    ('', 'es', 'es'), ('I said "mañana" to the man', 'en', 'en'), ('no', 'en-GB', 'en-GB')])
def test_guess(text: str, expected: str, found: str) -> None:
    assert guess(text, expected) == found
