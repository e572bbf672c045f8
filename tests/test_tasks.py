"""The recording is the one the course was written on, in its units, or it is refused."""

import numpy as np
import pytest
import torch
from matplotlib import cbook

from mamba_edu.tasks import load_recording


def test_the_recording_is_six_seconds_of_two_samples_a_millisecond():
    t, voltage = load_recording()
    assert t.shape == voltage.shape == (12_000,)
    assert t.dtype == voltage.dtype == torch.float64
    assert t[0] == 0
    assert t[-1] == 5999.5
    assert (torch.diff(t) == 0.5).all()


def test_the_recording_is_in_millivolts_of_a_nerve_cell():
    t, voltage = load_recording()
    quiet, driven, after = (voltage[part] for part in (t < 500, (t > 600) & (t < 5500), t > 5900))
    assert -68 < quiet.mean() < -66
    assert quiet.std() < 0.3
    assert (quiet.mean() - after.mean()).abs() < 2
    assert voltage.max() > 0
    assert voltage.min() > -70
    spikes = (driven[1:] > -20) & (driven[:-1] <= -20)
    assert 50 < spikes.sum() < 90
    assert not (voltage[t > 5600] > -20).any()
    assert driven.mean() > -50


def test_the_recording_is_matplotlib_s_file_times_a_hundred():
    raw = np.fromfile(cbook.get_sample_data("membrane.dat", asfileobj=False), dtype="<f4")
    np.testing.assert_allclose(load_recording().voltage / 100, raw, rtol=1e-15)


def test_a_changed_recording_does_not_come_back():
    load_recording().voltage.zero_()
    assert load_recording().voltage.abs().min() > 0


def test_a_missing_recording_says_what_to_do(monkeypatch, tmp_path):
    there = tmp_path / "membrane.dat"
    monkeypatch.setattr(cbook, "get_sample_data", lambda name, asfileobj: there)
    with pytest.raises(
        FileNotFoundError, match=r"it is not at .*membrane\.dat: install matplotlib"
    ):
        load_recording()


@pytest.mark.parametrize("n_samples", [0, 11_999, 24_000])
def test_a_recording_of_another_length_is_refused(monkeypatch, tmp_path, n_samples):
    there = tmp_path / "membrane.dat"
    np.zeros(n_samples, dtype=np.float32).tofile(there)
    monkeypatch.setattr(cbook, "get_sample_data", lambda name, asfileobj: str(there))
    message = f"must hold 12000 float32 samples; matplotlib's here holds {n_samples}: install"
    with pytest.raises(ValueError, match=message):
        load_recording()
