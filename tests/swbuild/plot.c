// SPDX-License-Identifier: LGPL-3.0-or-later
#include "plot.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STATUS_NOT_FOUND 127 /* the shell's word for a missing program */

/* Colours that the colour-blind can tell apart (Okabe and Ito). */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
				       "#cc79a7", "#e69f00", "#56b4e9",
				       "#000000" };
#define COLOURS (sizeof(colours) / sizeof(*colours))

/* A text as gnuplot's literal; control characters become blanks. */
static void quote(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', out);
		putc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
	putc('\'', out);
}

static const char *text_of(const json_t *run, const char *object,
			   const char *member)
{
	const char *text = json_string_value(
		json_object_get(json_object_get(run, object), member));

	return text ? text : "?";
}

static double number_of(const json_t *run, const char *object,
			const char *member)
{
	return json_number_value(
		json_object_get(json_object_get(run, object), member));
}

/* What the legend calls a run; a set that others do not share is named. */
static void write_label(FILE *out, const json_t *run, bool name_set)
{
	const char *label = json_string_value(json_object_get(run, "label"));
	char text[512];

	if (label)
		snprintf(text, sizeof(text), "%s", label);
	else
		snprintf(text, sizeof(text), "%s, NFSv%s",
			 text_of(run, "server", "host"),
			 text_of(run, "server", "nfs"));
	if (name_set)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " (mix %s, scale %g)", text_of(run, "load", "mix"),
			 number_of(run, "set", "scale"));
	quote(out, text);
}

static int by_asked_rate(const void *a, const void *b)
{
	double x = json_number_value(
		json_object_get(*(json_t *const *)a, "asked_rate"));
	double y = json_number_value(
		json_object_get(*(json_t *const *)b, "asked_rate"));

	return (x > y) - (x < y);
}

/* A point's mean response time; 0 if nothing was done. */
static double mean_of(const json_t *point)
{
	return number_of(point, "response_ms", "mean");
}

/* The points of a run as a data block; the curve goes by the asked rate. */
static int write_data(FILE *out, const json_t *run, size_t number)
{
	const json_t *list = json_object_get(run, "points");
	size_t count = json_array_size(list);
	json_t **points = calloc(count ? count : 1, sizeof(json_t *));

	if (!points)
		return -1;
	for (size_t i = 0; i < count; i++)
		points[i] = json_array_get(list, i);
	qsort(points, count, sizeof(json_t *), by_asked_rate);
	fprintf(out, "$run%zu << END_OF_DATA\n", number);
	for (size_t i = 0; i < count; i++)
		if (mean_of(points[i]) > 0)
			fprintf(out, "%g %g %d\n",
				json_number_value(json_object_get(
					points[i], "achieved_rate")),
				mean_of(points[i]),
				json_is_true(
					json_object_get(points[i], "valid")));
	fputs("END_OF_DATA\n", out);
	free(points);
	return 0;
}

/* The last valid point's rate, beside it. */
static void write_mark(FILE *out, const json_t *run, size_t number)
{
	const json_t *last = json_object_get(run, "last_valid");

	if (!last)
		return;
	fprintf(out,
		"set label '%.0f ops/s' at %g,%g right offset -0.8,0.9 "
		"textcolor rgb '%s' font ',15' front boxed\n",
		number_of(run, "last_valid", "achieved_rate"),
		number_of(run, "last_valid", "achieved_rate"),
		number_of(run, "last_valid", "response_ms"),
		colours[number % COLOURS]);
}

static bool same_load(json_t *const *runs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(text_of(runs[0], "load", "mix"),
			   text_of(runs[i], "load", "mix")) != 0 ||
		    strcmp(text_of(runs[0], "set", "text"),
			   text_of(runs[i], "set", "text")) != 0)
			return false;
	return true;
}

/* From below the lowest point to above the highest and the limit. */
static void write_range(FILE *out, json_t *const *runs, size_t count,
			double limit)
{
	double low = limit, high = limit;

	for (size_t i = 0; i < count; i++) {
		size_t n;
		json_t *point;

		json_array_foreach(json_object_get(runs[i], "points"), n, point)
		{
			double mean = mean_of(point);

			if (mean > 0 && mean < low)
				low = mean;
			if (mean > high)
				high = mean;
		}
	}
	fprintf(out, "set yrange [%g:%g]\n", low / 2, high * 3);
}

static void write_frame(FILE *out, json_t *const *runs, size_t count,
			const char *path)
{
	bool svg = strcmp(strrchr(path, '.'), ".svg") == 0;
	char second[512] = "";

	fputs(svg ? "set terminal svg size 1280,800 font 'sans-serif,17' "
		    "background '#ffffff'\n" :
		    "set terminal pngcairo size 1280,800 font 'Sans,14'\n",
	      out);
	fputs("set output ", out);
	quote(out, path);
	if (same_load(runs, count))
		snprintf(second, sizeof(second), "mix %s; file set, %s",
			 text_of(runs[0], "load", "mix"),
			 text_of(runs[0], "set", "text"));
	/* Two titles of different sizes need the second as a label. */
	fputs("\nset title 'SWBUILD: response time over load' font ',20' "
	      "offset 0,1.2\nset label ",
	      out);
	quote(out, second);
	fputs(" at graph 0.5,1.035 center font ',13' textcolor rgb '#555555' "
	      "noenhanced\n"
	      "set tmargin 5\n"
	      "set xlabel 'achieved load, operations/s' font ',16'\n"
	      "set ylabel 'average response time, ms' font ',16'\n"
	      "set logscale y\nset xrange [0:*]\n"
	      "set format x '%.0f'\nset format y '%g'\n"
	      "set grid xtics ytics back linetype 1 linewidth 1 linecolor "
	      "rgb '#dddddd'\n"
	      "set style textbox opaque noborder margins 0.3,0.3\n"
	      "set border 3\nset tics nomirror\n"
	      "set key top left reverse Left opaque noenhanced font ',14'\n",
	      out);
}

static void write_curves(FILE *out, json_t *const *runs, size_t count,
			 double limit)
{
	bool name_set = !same_load(runs, count);

	fprintf(out,
		"set arrow from graph 0, first %g to graph 1, first %g nohead "
		"dashtype 2 linewidth 2 linecolor rgb '#808080' back\n"
		"plot keyentry with lines dashtype 2 linewidth 2 "
		"linecolor rgb '#808080' title 'limit: %g ms'",
		limit, limit, limit);
	for (size_t i = 0; i < count; i++) {
		const char *colour = colours[i % COLOURS];

		/* The key has the line with a valid point's mark on it. */
		fprintf(out,
			", \\\n\t$run%zu using 1:2 with lines linewidth 2.5 "
			"linecolor rgb '%s' notitle"
			", \\\n\t'' using 1:($3 > 0 ? $2 : NaN) with points "
			"pointtype 7 pointsize 1.4 linecolor rgb '%s' notitle"
			", \\\n\t'' using 1:($3 > 0 ? NaN : $2) with points "
			"pointtype 2 pointsize 1.8 linewidth 2.5 "
			"linecolor rgb '%s' notitle"
			", \\\n\tkeyentry with linespoints pointtype 7 "
			"pointsize 1.4 linewidth 2.5 linecolor rgb '%s' title ",
			i, colour, colour, colour, colour);
		write_label(out, runs[i], name_set);
	}
	fputs(", \\\n\tkeyentry with points pointtype 2 pointsize 1.8 "
	      "linewidth 2.5 linecolor rgb '#404040' title "
	      "'invalid point'\n",
	      out);
}

static int draw(FILE *gnuplot, json_t *const *runs, size_t count,
		const char *path)
{
	double limit = number_of(runs[0], "load", "limit_ms");

	for (size_t i = 0; i < count; i++) {
		if (write_data(gnuplot, runs[i], i) < 0)
			return -1;
		write_mark(gnuplot, runs[i], i);
	}
	write_frame(gnuplot, runs, count, path);
	write_range(gnuplot, runs, count, limit);
	write_curves(gnuplot, runs, count, limit);
	return 0;
}

int plot_runs(json_t *const *runs, size_t count, const char *path, char *wrong,
	      size_t room)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	FILE *gnuplot = popen("exec gnuplot -", "we");
	int drawn, status;

	if (!gnuplot) {
		snprintf(wrong, room, "gnuplot does not start: %s",
			 strerror(errno));
		signal(SIGPIPE, before);
		return -1;
	}
	drawn = draw(gnuplot, runs, count, path);
	status = pclose(gnuplot);
	signal(SIGPIPE, before);
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND) {
		snprintf(wrong, room,
			 "there is no gnuplot to draw with: "
			 "install gnuplot-nox");
		return -1;
	}
	if (drawn < 0 || status != 0) {
		snprintf(wrong, room,
			 "gnuplot could not draw %s: see its message", path);
		return -1;
	}
	return 0;
}
