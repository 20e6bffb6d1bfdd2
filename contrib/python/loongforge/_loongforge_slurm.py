# SPDX-License-Identifier: Apache-2.0
"""The mark by which a package named loongforge is known to be this one.

Another project's package bears the same name; `_other` tells them apart by
whether this file lies in the package's folder.
"""
