"""What the published files say is what arrives: few lines, written by hand in each file's own form."""

import gzip

import numpy as np
import pytest

from benchmarks.public import raw_files


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="raw.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write_text


def test_shuttle_has_its_class_last_and_may_lack_the_last_newline(write):
    X, y = raw_files.read_shuttle([write("50,21,77,0,28,0,27,48,22,2\n55,0,92,0,0,26,36,92,56,4")])
    np.testing.assert_array_equal(X, [[50, 21, 77, 0, 28, 0, 27, 48, 22], [55, 0, 92, 0, 0, 26, 36, 92, 56]])
    np.testing.assert_array_equal(y, [2, 4])


def test_emg_counts_files_as_classes_in_their_order(write):
    first, second = write("1\t2\n3\t4\n", "a.txt"), write("-4000\t4000\n", "b.txt")
    X, y = raw_files.read_emg([first, second])
    np.testing.assert_array_equal(X, [[1, 2], [3, 4], [-4000, 4000]])
    np.testing.assert_array_equal(y, [0, 0, 1])


def test_magic_names_become_numbers(write):
    X, y = raw_files.read_magic([write("fLength,fWidth,class\n28.7967,16.0021,g\n1.5,-2,h\n")])
    np.testing.assert_array_equal(X, [[28.7967, 16.0021], [1.5, -2.0]])
    np.testing.assert_array_equal(y, [0, 1])


def test_sloan_drops_class_and_the_constant_column_and_keeps_every_digit(write):
    text = (
        "objid,ra,rerun,camcol,class,redshift\r\n"
        "1.23764870457714E+018,183.5,301,4,STAR,-0.000008956\r\n"
        "1.23764870457715E+018,183.6,301,4,QSO,2.5\r\n"
        "1.23764870457714E+018,183.7,301,5,GALAXY,0.1\r\n"
    )
    X, y = raw_files.read_sloan([write(text)])
    np.testing.assert_array_equal(X[0], [1.23764870457714e18, 183.5, 4, -0.000008956])
    assert X[1, 0] - X[0, 0] == pytest.approx(10_000, abs=256)  # neighbouring doubles are 256 apart there
    np.testing.assert_array_equal(y, [0, 2, 1])


def test_pulsar_leaves_out_lines_with_missing_entries(write):
    text = " Mean, Deviation,target_class\r\n1.25,2.5,0.0\r\n3.0,,1.0\r\n,4.0,0.0\r\n5.0,6.0,1.0\r\n"
    X, y = raw_files.read_pulsar([write(text)])
    np.testing.assert_array_equal(X, [[1.25, 2.5], [5.0, 6.0]])
    np.testing.assert_array_equal(y, [0, 1])


def test_usps_has_its_digit_first_in_a_gzip_file(tmp_path):
    path = tmp_path / "zip.train.gz"
    path.write_bytes(gzip.compress(b"6.0000 -1.0000 0.3210 \n5.0000 1.0000 -0.9990 \n"))
    X, y = raw_files.read_usps_pixels([path])
    np.testing.assert_array_equal(X, [[-1.0, 0.321], [1.0, -0.999]])
    np.testing.assert_array_equal(y, [6, 5])
    assert y.dtype == np.int64
