#!/usr/bin/env bash
# Debian's newest Python (unstable) in a folder of its own, beside an older system: debian_python.sh 3.14 FOLDER
# Needs root and Debian's packages debootstrap and patchelf. FOLDER/usr/bin/python3.14 then runs like any other
# interpreter: it names its own loader and libraries, because the system's C library may be too old for it.
set -euo pipefail
version=$1 folder=$(realpath -m "$2")
python=$folder/usr/bin/python$version
[ -e "$folder/.ready" ] && exit 0
command -v debootstrap >/dev/null && command -v patchelf >/dev/null ||
    apt-get install -y -qq debootstrap patchelf >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap patchelf >/dev/null; }
rm -rf "$folder"
debootstrap --variant=minbase --include="python$version,python$version-venv" sid "$folder" >"$folder.log" 2>&1 || { tail -n 3 "$folder.log" >&2; exit 1; }
libraries=$(dirname "$(find "$folder/usr/lib" -name 'ld-linux*.so.*' | head -n 1)")
/usr/bin/patchelf --set-interpreter "$(find "$libraries" -name 'ld-linux*.so.*' | head -n 1)" "$python"
/usr/bin/patchelf --force-rpath --set-rpath "$libraries" "$python"
"$python" -c 'import ctypes, sqlite3, ssl'
touch "$folder/.ready"
