#!/bin/sh
# The commits since the last tag, or all of them.
last=$(git describe --tags --abbrev=0 2>/dev/null) || last=
git log --format='%h %s' ${last:+"$last..HEAD"}
