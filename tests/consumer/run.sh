#!/usr/bin/env bash
# Installs a build, moves it, and builds and runs what a user would: run.sh BUILD_FOLDER CXX_COMPILER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PW_HOME

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
# A GPU that only the installed data has: what is predicted for it was not read from the sources.
sed '/"aliases"/d; s/"name": *"[^"]*"/"name": "Installed GPU"/' "$work/prefix/share/pw/hardware/A100.json" \
  >"$work/prefix/share/pw/hardware/Installed.json"

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$2" \
  -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }

cd /
c=$("$work/build/consumer_c" Installed)
cpp=$("$work/build/consumer_cpp" Installed "$work/prefix/share/pw")
[[ "$c" =~ ^[0-9]+\.[0-9]+\ us$ && "$c" = "$cpp" ]] || { echo "C gave '$c', C++ '$cpp'"; exit 1; }

for program in pw-predict pw-workload pw-compare; do
  ! ldd "$work/prefix/bin/$program" | grep -q libtorch || { echo "$program links LibTorch"; exit 1; }
done
! ldd "$work/build/consumer_c" | grep -q libtorch || { echo "libpw links LibTorch"; exit 1; }
predict=("$work/prefix/bin/pw-predict" --model Qwen2.5-14B --batch 2 --input-len 100 --output-len 4
  --hardware Installed)
"${predict[@]}" | grep -q "Qwen2.5-14B on Installed GPU"
# The library with LibTorch is found in the prefix, where it was built.
if ls "$work"/prefix/lib*/{,*/}pw/libpw_torch_engine.so >/dev/null 2>&1; then
  "${predict[@]}" --runtime torch | grep -q "Qwen2.5-14B on Installed GPU"
fi
echo "consumer: $c"
