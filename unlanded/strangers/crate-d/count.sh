#!/bin/bash
# lines of pass code (not blank, not comment) in each wave_graph module
for f in src/bin/*.rs; do awk -v f=$f '/^#\[wave_graph/{p=1;n=0} p&&NF&&$1!~/^\/\//{n++} /^pub mod/{name=$3} p&&/^}/{print f,name,n; p=0}' $f; done
