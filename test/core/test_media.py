"""Recordings of every usual kind are read, bad ones are refused in one sentence, movies are in step and whole."""

from __future__ import annotations

import os
import struct
import wave
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from emavatar_ros.errors import BadInput
from emavatar_ros.media.audio import Audio
from emavatar_ros.media.files import open_video, read_audio
from emavatar_ros.media.movie import Movie


def tone(rate: int, seconds: float = 1.0, hz: float = 440.0, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hz * np.arange(round(rate * seconds)) / rate)).astype(np.float32)


def pitch(audio: Audio) -> float:
    mono = audio.mono().samples
    return float(np.abs(np.fft.rfft(mono * np.hanning(len(mono)))).argmax() * audio.rate / len(mono))


def write_sound(path: Path, codec: str, rate: int, layout: str, sample_format: str, seconds: float = 1.0) -> Path:
    channels = av.AudioLayout(layout).nb_channels
    data = np.stack([tone(rate, seconds)] * channels)
    with av.open(str(path), 'w') as out:
        stream = out.add_stream(codec, rate=rate)
        stream.layout, stream.format = layout, sample_format
        converter = av.AudioResampler(format=sample_format, layout=layout, rate=rate)
        sound = av.AudioFrame.from_ndarray(data, format='fltp', layout=layout)
        sound.sample_rate = rate
        for piece in [*converter.resample(sound), *converter.resample(None)]:
            out.mux(stream.encode(piece))
        out.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(('name', 'codec', 'rate', 'layout', 'kind'), [
    ('phone.wav', 'pcm_s16le', 8000, 'mono', 's16'),
    ('eight.wav', 'pcm_u8', 16000, 'mono', 'u8'),
    ('deep.wav', 'pcm_s24le', 44100, 'stereo', 's32'),
    ('deepest.wav', 'pcm_s32le', 48000, 'stereo', 's32'),
    ('float.wav', 'pcm_f32le', 48000, 'mono', 'flt'),
    ('double.wav', 'pcm_f64le', 48000, 'mono', 'dbl'),
    ('studio.wav', 'pcm_s24le', 96000, '5.1', 's32'),
    ('telephone.wav', 'pcm_mulaw', 8000, 'mono', 's16'),
    ('a.flac', 'flac', 44100, 'stereo', 's16'),
    ('a.mp3', 'libmp3lame', 44100, 'stereo', 's16p'),
    ('a.m4a', 'aac', 44100, 'stereo', 'fltp'),
])
def test_every_usual_kind_of_sound_is_read(tmp_path: Path, name: str, codec: str, rate: int, layout: str, kind: str
                                           ) -> None:
    audio = read_audio(write_sound(tmp_path / name, codec, rate, layout, kind))
    assert audio.rate == rate
    assert audio.seconds == pytest.approx(1.0, abs=0.1)
    assert audio.samples.dtype == np.float32
    assert pitch(audio) == pytest.approx(440, abs=3)
    assert np.abs(audio.mono().samples).max() == pytest.approx(0.5, abs=0.05)


def float_wav(path: Path, samples: np.ndarray, rate: int = 16000) -> Path:
    data = samples.astype('<f4').tobytes()
    path.write_bytes(b'RIFF' + struct.pack('<I', 36 + len(data)) + b'WAVEfmt '
                     + struct.pack('<IHHIIHH', 16, 3, 1, rate, rate * 4, 4, 32) + b'data'
                     + struct.pack('<I', len(data)) + data)
    return path


def test_samples_that_are_no_numbers_are_cleaned_and_too_loud_ones_scaled(tmp_path: Path) -> None:
    samples = tone(16000) * 8
    samples[100], samples[200], samples[300] = np.nan, np.inf, -np.inf
    audio = read_audio(float_wav(tmp_path / 'wild.wav', samples))
    assert np.isfinite(audio.samples).all()
    assert np.abs(audio.samples).max() == pytest.approx(1.0)


def wav(path: Path, samples: np.ndarray, rate: int = 16000) -> Path:
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 32767).astype('<i2').tobytes())
    return path


def bad_files(folder: Path) -> dict[str, Path]:
    whole = wav(folder / 'whole.wav', tone(16000, 4.0)).read_bytes()
    files = {'missing': folder / 'no.wav', 'folder': folder}
    for name, data in {'empty': b'', 'text': b'hello, this is no recording\n' * 40, 'one_byte': b'R',
                       'cut_header': whole[:30], 'cut': whole[:len(whole) // 2],
                       'noise': np.random.default_rng(1).bytes(5000)}.items():
        files[name] = folder / f'{name}.wav'
        files[name].write_bytes(data)
    files['no_samples'] = wav(folder / 'no_samples.wav', np.zeros(0, np.float32))
    files['no_numbers'] = float_wav(folder / 'no_numbers.wav', np.full(1600, np.nan, np.float32))
    flac = write_sound(folder / 'whole.flac', 'flac', 44100, 'stereo', 's16', 3.0).read_bytes()
    files['cut_flac'] = folder / 'cut.flac'
    files['cut_flac'].write_bytes(flac[:len(flac) // 2])
    m4a = write_sound(folder / 'whole.m4a', 'aac', 44100, 'stereo', 'fltp', 3.0).read_bytes()
    files['cut_m4a'] = folder / 'cut.m4a'
    files['cut_m4a'].write_bytes(m4a[:len(m4a) // 2])
    files['playlist'] = folder / 'list.m3u8'
    files['playlist'].write_text(f'#EXTM3U\n#EXTINF:4,\nfile://{folder}/whole.wav\n#EXT-X-ENDLIST\n')
    files['picture'] = folder / 'picture.png'
    cv2.imwrite(str(files['picture']), np.zeros((64, 64, 3), np.uint8))
    return files


def test_bad_sound_is_refused_in_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, path in bad_files(tmp_path).items():
        with pytest.raises(BadInput) as caught:
            read_audio(path)
        assert str(path) in str(caught.value), name
        assert '\n' not in str(caught.value)
    assert capfd.readouterr() == ('', '')


def test_a_recording_beyond_the_longest_is_refused(tmp_path: Path) -> None:
    path = wav(tmp_path / 'long.wav', np.zeros(16000 * 5, np.float32))
    assert read_audio(path).seconds == pytest.approx(5)
    with pytest.raises(BadInput, match='longer than 3 s'):
        read_audio(path, longest_seconds=3)


def test_a_name_with_pattern_signs_is_only_a_name(tmp_path: Path) -> None:
    assert read_audio(wav(tmp_path / 'a:b %03d*.wav', tone(16000))).seconds == pytest.approx(1)


def clip(path: Path, stamps: list[float], size: tuple[int, int] = (320, 240), sound: float = 0.0) -> Path:
    """Left half red, right half blue; a sound from 0 where asked."""
    with Movie(path, *size, fps=30, rate=16000) as movie:
        rgb = np.zeros((size[1], size[0], 3), np.uint8)
        rgb[:, :size[0] // 2, 0] = rgb[:, size[0] // 2:, 2] = 255
        for stamp in stamps:
            movie.image(rgb, stamp)
        if sound:
            movie.sound(Audio(tone(16000, sound), 16000))
    return path


def test_a_variable_image_rate_keeps_its_own_times(tmp_path: Path) -> None:
    stamps = [0.0, 0.03, 0.11, 0.2, 0.5, 0.52, 0.9]
    video = open_video(clip(tmp_path / 'phone.mp4', stamps, sound=1.0))
    assert [i.stamp for i in video.images()] == pytest.approx(stamps, abs=0.002)
    assert video.has_audio and not video.still
    assert len(list(video.images(most=5))) < len(stamps)


def turn(path: Path, matrix: tuple[int, ...]) -> Path:
    """Set the rotation matrix in the image track's header, as a phone does."""
    data = bytearray(path.read_bytes())
    at = data.index(b'tkhd') + 4 + 40
    data[at:at + 36] = struct.pack('>9i', *matrix)
    path.write_bytes(data)
    return path


def test_a_portrait_video_with_a_rotation_flag_stands_upright(tmp_path: Path) -> None:
    clockwise = (0, 65536, 0, -65536, 0, 0, 240 << 16, 0, 1 << 30)
    video = open_video(turn(clip(tmp_path / 'p.mp4', [0.0, 0.1]), clockwise))
    assert (video.width, video.height) == (240, 320)
    pixels = next(video.images()).pixels
    assert pixels[40, 120, 0] > 200 and pixels[280, 120, 2] > 200  # turned right, the left half is on top
    upside_down = (-65536, 0, 0, 0, -65536, 0, 320 << 16, 240 << 16, 1 << 30)
    pixels = next(open_video(turn(clip(tmp_path / 'u.mp4', [0.0, 0.1]), upside_down)).images()).pixels
    assert pixels[120, 40, 2] > 200 and pixels[120, 280, 0] > 200


def test_images_are_scaled_to_the_longest_side(tmp_path: Path) -> None:
    big = np.full((4320, 7680, 3), 90, np.uint8)
    path = tmp_path / '8k.jpg'
    cv2.imwrite(str(path), big)
    video = open_video(path, longest=640)
    assert (video.width, video.height, video.still, video.fps) == (640, 360, True, 0.0)


@pytest.mark.parametrize('name', ['a.png', 'a.jpg', 'a.webp', 'a.bmp', 'alpha.png'])
def test_a_still_picture_is_one_image(tmp_path: Path, name: str) -> None:
    bgr = np.zeros((48, 64, 4 if 'alpha' in name else 3), np.uint8)
    bgr[..., 2] = 250
    bgr[..., 3:] = 255
    cv2.imwrite(str(tmp_path / name), bgr)
    video = open_video(tmp_path / name)
    images = list(video.images())
    assert len(images) == 1 and images[0].stamp == 0 and video.still and not video.has_audio
    assert images[0].pixels.shape == (48, 64, 3)
    assert images[0].pixels[20, 20] == pytest.approx([250, 0, 0], abs=8)


def test_a_jpeg_with_an_orientation_stands_upright(tmp_path: Path) -> None:
    bgr = np.zeros((48, 64, 3), np.uint8)
    bgr[:, :32, 2] = 250
    data = cv2.imencode('.jpg', bgr)[1].tobytes()
    exif = (b'Exif\0\0MM\0*\0\0\0\x08\0\x01' + struct.pack('>HHIHH', 0x112, 3, 1, 6, 0) + b'\0\0\0\0')
    path = tmp_path / 'phone.jpg'
    path.write_bytes(data[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + data[2:])
    pixels = next(open_video(path).images()).pixels
    assert pixels.shape == (64, 48, 3)
    assert pixels[10, 24, 0] > 200 and pixels[54, 24, 0] < 60  # 6: turn right, the left side is on top


def test_sound_without_images_and_images_without_sound(tmp_path: Path) -> None:
    video = open_video(wav(tmp_path / 'sound.wav', tone(16000, 2)))
    assert video.has_audio and not video.has_images and list(video.images()) == []
    assert video.seconds == pytest.approx(2)
    silent = clip(tmp_path / 'silent.mp4', [0.0, 0.1])
    assert not list(av.open(str(silent)).streams.audio)
    with pytest.raises(BadInput, match='no sound'):
        read_audio(silent)


def test_bad_videos_are_refused_in_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = clip(tmp_path / 'whole.mp4', [i / 30 for i in range(90)], sound=3.0).read_bytes()
    one = np.zeros((1, 1, 3), np.uint8)
    noisy = np.random.default_rng(0).integers(0, 255, (200, 200, 3), np.uint8)
    cases = {'empty.mp4': b'', 'text.mp4': b'no video', 'cut.mp4': whole[:len(whole) // 2], 'head.mp4': whole[:600],
             'one.png': cv2.imencode('.png', one)[1].tobytes(),
             'cut.png': cv2.imencode('.png', noisy)[1].tobytes()[:200],
             'cut.jpg': cv2.imencode('.jpg', noisy)[1].tobytes()[:200]}
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput) as caught:
            open_video(tmp_path / name)
        assert name in str(caught.value)
    for missing in (tmp_path / 'no.mp4', tmp_path):
        with pytest.raises(BadInput):
            open_video(missing)
    assert capfd.readouterr() == ('', '')


def test_damaged_recordings_never_raise_anything_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chance = np.random.default_rng(7)
    whole = np.frombuffer(clip(tmp_path / 'w.mp4', [i / 10 for i in range(10)], sound=1.0).read_bytes(), np.uint8)
    refused = 0
    for _ in range(60):
        data = whole.copy()
        at = chance.integers(0, len(data), 40)
        data[at] = chance.integers(0, 256, 40)
        path = tmp_path / 'damaged.mp4'
        path.write_bytes(data.tobytes())
        try:
            list(open_video(path).images())
            read_audio(path)
        except BadInput:
            refused += 1
    assert refused
    assert capfd.readouterr() == ('', '')


def test_a_movie_is_in_step(tmp_path: Path) -> None:
    """A white flash and a click at the same time come back at the same time, at two sampling rates."""
    for rate, given in ((24000, 24000), (48000, 16000)):
        path = tmp_path / f'{rate}.mp4'
        with Movie(path, 321, 241, fps=30, rate=rate) as movie:  # odd sizes are cropped to even ones
            sound = np.zeros(given * 2, np.float32)
            sound[given:given + given // 20] = tone(given, 0.05, 1000)
            for start in range(0, len(sound), 777):
                movie.sound(Audio(sound[start:start + 777], given))
            for number in range(60):
                movie.image(np.full((241, 321, 3), 255 if number == 30 else 0, np.uint8))
        video = open_video(path)
        assert (video.width, video.height) == (320, 240)
        assert video.fps == pytest.approx(30, abs=0.2) and video.seconds == pytest.approx(2, abs=0.01)
        flash = max(video.images(), key=lambda image: image.pixels.mean()).stamp
        audio = read_audio(path)
        click = np.argmax(np.abs(audio.mono().samples) > 0.1) / audio.rate
        assert abs(flash - click) < 0.01
        with av.open(str(path)) as container:
            assert {s.codec_context.name for s in container.streams} == {'h264', 'aac'}
            assert container.streams.video[0].codec_context.pix_fmt == 'yuv420p'
        assert path.read_bytes().index(b'moov') < path.read_bytes().index(b'mdat')
        assert os.listdir(tmp_path).count(path.name) == 1 and not list(tmp_path.glob('.*'))


def test_sound_at_a_stamp_has_silence_before_it(tmp_path: Path) -> None:
    with Movie(tmp_path / 'a.mp4', 64, 64, fps=10, rate=24000) as movie:
        movie.sound(Audio(tone(24000, 0.5), 24000), stamp=0.7)
        for _ in range(12):
            movie.image(np.zeros((64, 64, 3), np.uint8))
        assert movie.sound_seconds == pytest.approx(1.2) and movie.image_seconds == pytest.approx(1.2)
    audio = read_audio(tmp_path / 'a.mp4')
    assert np.argmax(np.abs(audio.samples) > 0.1) / audio.rate == pytest.approx(0.7, abs=0.01)


def test_a_late_microphone_is_put_in_step(tmp_path: Path) -> None:
    """A file whose sound track starts 0.4 s after its images."""
    path = tmp_path / 'late.mkv'
    with av.open(str(path), 'w') as out:
        images, sound = out.add_stream('mjpeg', rate=10), out.add_stream('pcm_s16le', rate=16000)
        images.width = images.height = 64
        images.pix_fmt, sound.layout = 'yuvj420p', 'mono'
        for number in range(10):
            picture = av.VideoFrame(64, 64, 'yuvj420p')
            picture.pts, picture.time_base = number, Fraction(1, 10)
            out.mux(images.encode(picture))
        data = (tone(16000, 0.6)[None] * 32767).astype(np.int16)
        piece = av.AudioFrame.from_ndarray(data, format='s16', layout='mono')
        piece.sample_rate, piece.pts, piece.time_base = 16000, 6400, Fraction(1, 16000)
        out.mux(sound.encode(piece))
    audio = read_audio(path)
    assert audio.seconds == pytest.approx(1.0, abs=0.02)
    assert np.argmax(np.abs(audio.samples) > 0.05) / audio.rate == pytest.approx(0.4, abs=0.02)


def test_a_movie_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Movie(tmp_path / 'a.mp4', 64, 64, fps=10) as movie:
        movie.image(np.zeros((64, 64, 3), np.uint8))
        raise RuntimeError
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadInput, match='can\'t be written'):
        Movie(tmp_path / 'no' / 'a.mp4', 64, 64, fps=10)
    with pytest.raises(BadInput):
        Movie(tmp_path / 'a.mp4', 64, 64, fps=10).image(np.zeros((10, 10, 3), np.uint8))


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='needs a device that is always full')
def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    movie = Movie(tmp_path / 'a.mp4', 64, 64, fps=10)
    movie.abort()
    monkeypatch.setattr(Path, 'with_name', lambda self, name: Path('/dev/full'))
    monkeypatch.setattr(Path, 'unlink', lambda self, missing_ok=False: None)
    chance = np.random.default_rng(3)
    with pytest.raises(BadInput, match='No space left'), Movie(tmp_path / 'a.mp4', 640, 480, fps=10) as movie:
        for _ in range(60):
            movie.image(chance.integers(0, 255, (480, 640, 3), np.uint8))


def test_channels_that_cancel_each_other_out_are_not_silence() -> None:
    one = np.sin(np.arange(1600) / 20).astype(np.float32)
    quiet = np.zeros_like(one)
    assert np.abs(Audio(np.stack([one, -one], 1), 16000).mono().samples).max() > 0.9
    assert np.abs(Audio(np.stack([quiet] * 7 + [one], 1), 16000).mono().samples).max() > 0.9
    assert np.allclose(Audio(np.stack([one, quiet], 1), 16000).mono().samples, one / 2)
    assert not Audio(np.zeros((1600, 6), np.float32), 16000).mono().samples.any()
