"""Several files: which of them are measured in place of all, and what each then counts for.

Enter at ``chosen.sample_files``, which makes a subject of many files. ``survey`` tries a quick
codec on all of them and draws some; ``worth`` tells what a part of a file counts for.
``measuring.estimate`` then makes the figures of all from those of the drawn ones.

- survey: what each file takes behind a quick codec, which tells much of what it takes behind others
- stand for: a drawn file stands for itself and for files like it that were not drawn
- group: the files of one ending, out of which some were drawn
- larger samples: more files, and more of each, for the few chains that may be recommended
"""
