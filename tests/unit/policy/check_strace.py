#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""strace-to-trace against lines as strace writes them.

usage: check_strace.py STRACE-TO-TRACE
"""
import subprocess
import sys
import unittest

CONVERTER = sys.argv.pop(1)


def convert(*lines):
    """The trace of these lines, fields of each line in a list."""
    done = subprocess.run([CONVERTER, '/tree'], check=True, text=True,
                          input='\n'.join(lines) + '\n',
                          stdout=subprocess.PIPE)
    return [line.split('\t') for line in done.stdout.splitlines()]


class Convert(unittest.TestCase):
    def test_paths_and_outcomes(self):
        self.assertEqual(convert(
            '1 newfstatat(AT_FDCWD</tree>, "a/../b", {...}, 0) = 0',
            '1 newfstatat(AT_FDCWD</tree>, "b", {...}, '
            'AT_SYMLINK_NOFOLLOW) = 0',
            '1 newfstatat(3</tree/b>, "", {...}, AT_EMPTY_PATH) = 0',
            '1 openat(3</tree/d>, "c", O_RDONLY) = -1 ENOENT (No such)',
            '1 readlink("/tree/b", 0x7f, 9) = -1 EINVAL (Invalid)',
            '1 mkdir("/tree/d", 0777) = -1 EEXIST (File exists)',
            '1 access("/usr/include/stdio.h", R_OK) = 0',
            '1 access("/etc/passwd", R_OK) = 0'),
            [['S', 'b', '+'], ['l', '=0', '+'], ['F', '=0', '+'],
             ['O', 'd/c', '-'], ['L', '=0', 'n'], ['M', 'd', 'x'],
             ['A', '@include/stdio.h', '+']])

    def test_create_then_write_then_rename(self):
        self.assertEqual(convert(
            '1 openat(AT_FDCWD</tree>, "n", O_WRONLY|O_CREAT, 0666) = 3',
            '1 openat(AT_FDCWD</tree>, "n", O_WRONLY|O_CREAT, 0666) = 3',
            '1 rename("n", "m") = 0',
            '1 unlink("m") = 0'),
            [['C', 'n', '+'], ['W', '=0', '+'],
             ['R', '=0', '+', '', '', 'm'], ['U', '=1', '+']])

    def test_working_directory_follows_the_process(self):
        self.assertEqual(convert(
            '1 chdir("/tree/sub") = 0',
            '1 vfork( <unfinished ...>',
            '2 access("x", R_OK <unfinished ...>',
            '1 <... vfork resumed>) = 2',
            '2 <... access resumed>) = 0',
            '2 chdir("..") = 0',
            '2 access("x", R_OK) = 0',
            '1 access("y", R_OK) = 0'),
            [['H', 'sub', '+'], ['A', 'sub/x', '+'], ['H', '.', '+'],
             ['A', 'x', '+'], ['A', 'sub/y', '+']])

    def test_a_listing_counts_once(self):
        self.assertEqual(convert(
            '1 getdents64(3</tree>, 0x55 /* 5 entries */, 32768) = 144',
            '1 getdents64(3</tree>, 0x55 /* 0 entries */, 32768) = 0'),
            [['D', '.', '+']])

    def test_nothing_in_the_tree(self):
        done = subprocess.run([CONVERTER, '/tree'], text=True,
                              input='1 access("/etc", R_OK) = 0\n',
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn('/tree', done.stderr)


if __name__ == '__main__':
    unittest.main()
