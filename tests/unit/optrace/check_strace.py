#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""strace-to-trace against lines as strace writes them.

usage: check_strace.py STRACE-TO-TRACE
"""
import subprocess
import sys
import unittest

CONVERTER = sys.argv.pop(1)


def run(lines, *arguments):
    """What the converter did with these lines."""
    return subprocess.run([CONVERTER, '/tree', *arguments], text=True,
                          input=''.join(f'{line}\n' for line in lines),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def convert(*lines, arguments=()):
    """The trace of these lines, each with its fields but the process."""
    done = run(lines, *arguments)
    if done.returncode != 0 or done.stderr:
        raise RuntimeError(done.stderr)
    return [without_process(line.split('\t'))
            for line in done.stdout.splitlines()]


def without_process(fields):
    if len(fields) > 4:
        fields[4] = ''
    while fields[-1] == '':
        fields.pop()
    return fields


class Paths(unittest.TestCase):
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
            '1 access("/treetop", R_OK) = 0'),
            [['S', 'b', '+'], ['l', '=0', '+'], ['F', '=0', '+'],
             ['O', 'd/c', '-'], ['L', '=0', 'n'], ['M', 'd', 'x']])

    def test_toolchain(self):
        self.assertEqual(convert(
            '1 access("/usr/include/stdio.h", R_OK) = 0',
            '1 access("/usr/lib/gcc/x/12/../cc1", R_OK) = 0',
            '1 access("/etc/passwd", R_OK) = 0', arguments=['--toolchain']),
            [['A', '@include/stdio.h', '+'], ['A', '@lib/gcc/x/cc1', '+']])

    def test_create_then_write_then_rename(self):
        self.assertEqual(convert(
            '1 openat(AT_FDCWD</tree>, "n", O_WRONLY|O_CREAT, 0666) = 3',
            '1 openat(AT_FDCWD</tree>, "n", O_WRONLY|O_CREAT, 0666) = 3',
            '1 rename("n", "m") = 0',
            '1 unlink("m") = 0'),
            [['C', 'n', '+'], ['W', '=0', '+'],
             ['R', '=0', '+', '', '', 'm'], ['U', '=1', '+']])

    def test_links_and_what_crosses_the_root(self):
        self.assertEqual(convert(
            '1 link("a", "b") = 0',
            '1 symlink("/anywhere", "c") = 0',
            '1 linkat(AT_FDCWD, "a", AT_FDCWD, "d", 0) = 0',
            '1 rename("/tmp/x", "e") = 0',
            '1 rename("e", "/tmp/x") = 0',
            '1 link("a", "/tmp/y") = 0'),
            [['K', 'a', '+', '', '', 'b'], ['K', 'c', '+'],
             ['K', '=0', '+', '', '', 'd'], ['C', 'e', '+'],
             ['U', '=4', '+'], ['S', '=0', '+']])

    def test_names_that_strace_escapes(self):
        self.assertEqual(convert(
            r'1 access("/tree/a\"b, c\\", R_OK) = 0',
            r'1 access("/tree/\303\244", R_OK) = 0',
            r'1 newfstatat(AT_FDCWD</tree/\303\244>, "x) = 3", {}, 0) = 0'),
            [['A', 'a"b, c\\', '+'], ['A', 'ä', '+'], ['S', 'ä/x) = 3', '+']])

    def test_changes_of_attributes(self):
        self.assertEqual(convert(
            '1 open("f", O_RDONLY) = 3',
            '1 utimensat(3, NULL, [UTIME_OMIT, UTIME_NOW], 0) = 0',
            '1 utimensat(AT_FDCWD, "f", NULL, 0) = 0',
            '1 fchmodat(AT_FDCWD, "g", 0644) = -1 ENOENT (No such file)',
            '1 fsync(3) = 0',
            '1 unlinkat(AT_FDCWD, "d", AT_REMOVEDIR) = 0'),
            [['O', 'f', '+'], ['T', '=0', '+'], ['T', '=0', '+'],
             ['T', 'g', '-'], ['Y', '=0', '+'], ['V', 'd', '+']])


class Files(unittest.TestCase):
    """What is read and written goes to the line that opened the file."""

    def test_without_paths_of_descriptors(self):
        self.assertEqual(convert(
            '1 openat(AT_FDCWD, "dir", O_RDONLY|O_DIRECTORY) = 3',
            '1 openat(3, "in", O_RDONLY) = 4',
            '1 openat(AT_FDCWD, "out", O_RDWR|O_CREAT|O_TRUNC, 0666) = 5',
            '1 fstat(4, {st_mode=S_IFREG|0644, st_size=900, ...}) = 0',
            '1 read(4, ""..., 400) = 400',
            '1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4, 0) = 0x7f',
            '1 write(5, ""..., 70) = 70',
            '1 pwrite64(5, ""..., 30, 0) = 30',
            '1 pwrite64(5, ""..., 30, 40) = 30',
            '1 write(5, ""..., 10) = 10',
            '1 lseek(5, 0, SEEK_SET) = 0',
            '1 write(5, ""..., 20) = 20',
            '1 read(5, "", 10) = 10',
            '1 read(9, "", 10) = 10',
            '1 close(4) = 0',
            '1 read(4, "", 10) = -1 EBADF (Bad file descriptor)'),
            [['O', 'dir', '+'], ['O', 'dir/in', '+', '900'],
             ['C', 'out', '+', '80'], ['F', '=1', '+']])

    def test_duplicates_and_exec(self):
        self.assertEqual(convert(
            '1 open("a", O_RDONLY|O_CLOEXEC) = 3',
            '1 open("b", O_RDONLY) = 4',
            '1 dup2(4, 0) = 0',
            '1 dup(3) = 5',
            '1 fcntl(5, F_SETFD, FD_CLOEXEC) = 0',
            '1 fcntl(3, F_DUPFD, 10) = 10',
            '1 execve("/bin/cat", ["cat"], 0x7f /* 9 vars */) = 0',
            '1 read(3, "", 1) = 1',
            '1 read(5, "", 2) = 2',
            '1 read(0, "", 4) = 4',
            '1 read(10, "", 8) = 8'),
            [['O', 'a', '+', '8'], ['O', 'b', '+', '4']])

    def test_copies(self):
        self.assertEqual(convert(
            '1 open("a", O_RDONLY) = 3',
            '1 open("b", O_WRONLY|O_CREAT, 0600) = 4',
            '1 copy_file_range(3, NULL, 4, NULL, 100, 0) = 60',
            '1 sendfile(4, 3, NULL, 100) = 5'),
            [['O', 'a', '+', '65'], ['C', 'b', '+', '65']])

    def test_a_listing_counts_once(self):
        end = '1 getdents64(3</tree>, 0x55 /* 0 entries */, 32768) = 0'
        self.assertEqual(convert(
            '1 getdents64(3</tree>, 0x55 /* 5 entries */, 32768) = 144', end),
            [['D', '.', '+', '5']])
        self.assertEqual(convert(
            '1 openat(AT_FDCWD, ".", O_RDONLY|O_DIRECTORY) = 3',
            '1 access("x", R_OK) = 0',
            '1 getdents64(3, 0x55 /* 4 entries */, 32768) = 144',
            '1 getdents64(3, 0x55 /* 3 entries */, 32768) = 144', end,
            '1 lseek(3, 0, SEEK_SET) = 0',
            '1 getdents64(3, 0x55 /* 7 entries */, 32768) = 144', end),
            [['D', '.', '+', '7'], ['A', 'x', '+'], ['D', '=0', '+', '7']])


class Processes(unittest.TestCase):
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

    def test_order_is_that_of_the_results(self):
        self.assertEqual(convert(
            '1 unlink("a" <unfinished ...>',
            '2 access("b", R_OK) = 0',
            '1 <... unlink resumed>) = 0'),
            [['A', 'b', '+'], ['U', 'a', '+']])

    def test_the_right_parent_of_two(self):
        self.assertEqual(convert(
            '1 fork() = 2',
            '1 chdir("one") = 0',
            '2 chdir("two") = 0',
            '1 fork( <unfinished ...>',
            '2 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>',
            '3 access("x", R_OK) = 0',
            '2 <... clone resumed>, child_tidptr=0x7f) = 4',
            '4 access("x", R_OK) = 0',
            '1 <... fork resumed>) = 3'),
            [['H', 'one', '+'], ['H', 'two', '+'], ['A', 'one/x', '+'],
             ['A', 'two/x', '+']])

    def test_what_threads_and_children_share(self):
        flags = 'CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD'
        self.assertEqual(convert(
            f'1 clone(child_stack=0x7f, flags={flags}) = 2',
            '1 clone(child_stack=NULL, flags=SIGCHLD) = 3',
            '2 chdir("/tree/sub") = 0',
            '2 open("f", O_RDONLY) = 3',
            '1 read(3, "", 7) = 7',
            '3 read(3, "", 7) = -1 EBADF (Bad file descriptor)',
            '1 access("x", R_OK) = 0',
            '3 access("x", R_OK) = 0'),
            [['H', 'sub', '+'], ['O', 'sub/f', '+', '7'],
             ['A', 'sub/x', '+'], ['A', 'x', '+']])

    def test_numbers(self):
        done = run(['70 access("a", R_OK) = 0',
                    '70 fork() = 80', '80 access("a", R_OK) = 0',
                    '80 access("a", R_OK) = 0', '80 +++ exited with 0 +++',
                    '70 fork() = 80', '80 access("a", R_OK) = 0'])
        self.assertEqual([line.split('\t')[4:]
                          for line in done.stdout.splitlines()],
                         [['1'], ['2'], [], ['3']])

    def test_without_output_file_and_with_times(self):
        self.assertEqual(convert(
            'chdir("sub")                            = 0 <0.000012>',
            '12:00:01.5 vfork()                      = 8',
            '[pid     8] 1700000000.000001 access("x", R_OK) = 0',
            '[pid     7] access("y", R_OK)           = 0'),
            [['H', 'sub', '+'], ['A', 'sub/x', '+'], ['A', 'sub/y', '+']])

    def test_where_the_first_process_starts(self):
        self.assertEqual(convert(
            '1 access("a", R_OK) = 0', '1 getcwd("/tree", 4096) = 6',
            '1 access("a", R_OK) = 0', '1 fchdir(7</tree/far>) = 0',
            '1 access("a", R_OK) = 0', arguments=['--cwd', '/tree/deep']),
            [['A', 'deep/a', '+'], ['A', 'a', '+'], ['A', 'far/a', '+']])


class Refused(unittest.TestCase):
    def test_nothing_in_the_tree(self):
        done = run(['1 access("/etc", R_OK) = 0'])
        self.assertEqual(done.returncode, 1)
        self.assertIn('/tree', done.stderr)

    def test_not_of_strace(self):
        done = run(['gcc -c main.c', 'done'])
        self.assertEqual(done.returncode, 1)
        self.assertIn('strace -f -o', done.stderr)

    def test_other_lines_are_told(self):
        done = run(['1 access("a", R_OK) = 0', 'main.c: warning'])
        self.assertEqual(done.returncode, 0)
        self.assertIn('1 of 2 lines', done.stderr)

    def test_no_such_file_and_wrong_calls(self):
        done = run([], '/no/such/file')
        self.assertEqual(done.returncode, 1)
        self.assertIn('/no/such/file', done.stderr)
        self.assertEqual(run([], '--no-such-option').returncode, 64)


if __name__ == '__main__':
    unittest.main()
