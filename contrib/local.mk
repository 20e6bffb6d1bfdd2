# SPDX-License-Identifier: Apache-2.0
lfpypkgdir = $(lfpythondir)/loongforge
dist_lfpypkg_DATA = \
	contrib/python/loongforge/__init__.py \
	contrib/python/loongforge/_args.py \
	contrib/python/loongforge/_lib.py \
	contrib/python/loongforge/_loongforge_slurm.py \
	contrib/python/loongforge/_other.py \
	contrib/python/loongforge/_say.py
