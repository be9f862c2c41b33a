#!/usr/bin/env bash
# Parts of a run: who says which, what merge joins and what it refuses, and the launchers' examples.
# Run by ctest with the program, a folder to work in, the folder of the plug-ins and the examples.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
examples=$4
mutant=$lib/mutants/mutants.so:bug=ties_away
launchers=(TEST_SHARD_INDEX TEST_TOTAL_SHARDS TEST_SHARD_STATUS_FILE GTEST_SHARD_INDEX
  GTEST_TOTAL_SHARDS SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN
  SLURM_ARRAY_TASK_STEP JOB_COMPLETION_INDEX JOB_COMPLETIONS OMPI_COMM_WORLD_RANK
  OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE SLURM_PROCID SLURM_NTASKS)
unset "${launchers[@]}"
what=(--level smoke --reproducible --device "$mutant")

in_parts() { # COUNT NAME ARGUMENT...: into the folder NAME.parts; part 0 is also NAME.0
  local i count=$1 name=$2
  shift 2
  for ((i = 0; i < count; ++i)); do
    "$mxcheck" run --shard "$i/$count" --out "$name.parts" "$@" >"$name.$i.log" 2>&1
    ln -s "$name.parts/shard-$i-of-$count" "$name.$i"
  done
}

# The merge of all parts is, byte for byte, the run that was never in parts. In any order, of a
# device that fails, of one that passes, and with waivers.
same_bytes() { # NAME CODE COUNT ARGUMENT...
  local name=$1 code=$2 count=$3
  shift 3
  expect "$code" '' run --out "$name" "$@"
  in_parts "$count" "$name" "$@"
  # shellcheck disable=SC2046
  expect "$code" '' merge $(seq "$((count - 1))" -1 0 | sed "s/^/$name./") --out "$name.all"
  for file in results.jsonl report.html report.md junit.xml; do
    check "$name in $count parts: the same $file" cmp "$name/$file" "$name.all/$file"
  done
  check "$name: the merge is a results file" is_results_file "$name.all/results.jsonl"
  expect "$code" "wrote $name.parts/report.html" merge "$name.parts"
  check "$name: merge finds the parts of a folder" \
    cmp "$name/results.jsonl" "$name.parts/results.jsonl"
}
same_bytes wrong 1 3 "${what[@]}"
same_bytes right 0 4 --level smoke --reproducible
printf '[[waiver]]\n%s\n' 'device = "mutants.so:bug=ties_away"' 'case = "*uanti*e"' \
  'mismatch = "tie"' 'reason = "planted"' 'link = "https://example.org/1"' 'owner = "Ada"' \
  'expires = 2099-12-31' | grep -v '^$' | awk '!/waiver/ || !seen++' >w.toml
same_bytes waived 0 2 "${what[@]}" --dialect nv --suite quantize --waivers w.toml --strict
sed 's/"tie"/"scale"/' w.toml >>w.toml.two && cat w.toml w.toml.two >both.toml
same_bytes unneeded 2 2 "${what[@]}" --dialect nv --suite quantize --waivers both.toml --strict
check 'no part says what only the whole can know' never grep -q 'not needed' unneeded.0.log
check 'without --reproducible the merge has times' eval \
  'in_parts 2 timed --level smoke --suite encode_scale && "$mxcheck" merge timed.parts &&
    grep -q "\"started\":\"2" timed.parts/results.jsonl'
check 'a part says that it is one' \
  grep -q 'NOT A CONFORMANCE RUN: shard 1/3 alone' wrong.1/report.md
check 'the whole does not' never grep -q 'shard' <(grep '^>' wrong.all/report.md)

# What is no whole run.
refuse 2 'missing: shard 1/3' merge wrong.0 wrong.2 --out never
refuse 2 'shard 1/3 is there twice: wrong.1/results.jsonl and wrong.1/results.jsonl' \
  merge wrong.0 wrong.1 wrong.1 --out never
refuse 2 'waived.1/results.jsonl is shard 1/2, and wrong.0/results.jsonl is shard 0/3' \
  merge wrong.0 waived.1 --out never
refuse 2 'right.1/results.jsonl is shard 1/4' merge wrong.0 right.1 wrong.2 --out never
in_parts 3 seeds "${what[@]}" --seed 7
refuse 2 'seed "7", not "0"' merge wrong.0 seeds.1 wrong.2 --out never
in_parts 3 other --level smoke --reproducible
refuse 2 'device "cpu", not "'"$mutant"'"' merge wrong.0 wrong.1 other.2 --out never
cp -rH wrong.1 cut && sed -i '$d' cut/results.jsonl
refuse 2 'cut/results.jsonl: shard 1/3 is not finished' merge wrong.0 cut wrong.2 --out never
check 'and says how many' grep -qE '[0-9]+ of [0-9]+ cases; mxcheck run --resume goes on' stderr
cp -rH wrong.1 renumbered
sed -i '0,/"index":1,/s//"index":2,/' renumbered/results.jsonl
refuse 2 'case 2 is not of shard 1/3' merge wrong.0 renumbered wrong.2 --out never
cp -rH wrong.1 beyond
sed -i '0,/"index":1,/s//"index":1000000,/' beyond/results.jsonl
refuse 2 'case 1000000' merge wrong.0 beyond wrong.2 --out never
mkdir many && sed '1s#"1/3"#"999999999998/999999999999"#' wrong.1/results.jsonl >many/results.jsonl
refuse 2 '15/999999999999 and 999999999982 more' merge many --out never
cp -rH wrong.1 formats
sed -i '1s/"key":"formats","value":"./"key":"formats","value":"x/' formats/results.jsonl
refuse 2 'table hashes' merge wrong.0 formats wrong.2 --out never
cp -rH wrong.1 version && sed -i '1s/"program_version":"/&9/' version/results.jsonl
refuse 2 'program version' merge wrong.0 version wrong.2 --out never
refuse 2 'nowhere/results.jsonl: cannot open' merge wrong.0 nowhere --out never
refuse 2 'name another folder' merge wrong.0 wrong.1 wrong.2 --out wrong.0
refuse 2 'DIR' merge
check 'nothing was written' [ ! -e never ]

# An interrupted part goes on.
head -n 4 wrong.1/results.jsonl >part && mkdir again && cp -rH wrong.1 again/shard-1-of-3 &&
  mv part again/shard-1-of-3/results.jsonl
expect 1 'Not conformant' run --shard 1/3 --out again "${what[@]}" --resume
check 'a resumed part has the same bytes' \
  cmp wrong.1/results.jsonl again/shard-1-of-3/results.jsonl
mv wrong.0/results.jsonl kept && cp wrong.1/results.jsonl wrong.0/results.jsonl
refuse 2 'cannot resume, shard was "1/3" and is now "0/3"' \
  run --shard 0/3 --out wrong.parts "${what[@]}" --resume
mv kept wrong.0/results.jsonl
touch wrong.0/results.new.jsonl
refuse 2 'results.new.jsonl: this part was begun anew and has no case' merge wrong.parts
rm wrong.0/results.new.jsonl

# Who says which part: auto <VARIABLE=VALUE>... -- SHARD
auto() {
  local shard=${*: -1}
  rm -rf auto
  export "${@:1:$#-2}"
  expect 0 '' run --level smoke --suite encode_scale --shard auto --out auto
  unset "${launchers[@]}"
  check "$* is shard $shard" grep -rq "\"shard\":\"$shard\"" auto
}
auto SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 -- 2/3
auto SLURM_ARRAY_TASK_ID=11 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 -- 1/3
auto SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 \
  SLURM_ARRAY_TASK_STEP=2 -- 2/3
auto SLURM_PROCID=0 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 -- 2/3
auto SLURM_PROCID=1 SLURM_NTASKS=2 -- 1/2
auto JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=2 -- 0/2
auto GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3 -- 1/3
auto OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=0 SLURM_NTASKS=2 -- 1/3
auto PMI_RANK=2 PMI_SIZE=3 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 -- 2/3
auto SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 -- 1/2
auto SLURM_PROCID=0 SLURM_NTASKS=1 -- 0/1
auto TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=2 TEST_SHARD_STATUS_FILE="$work/sharded" -- 0/2
check 'Bazel is told that its test shards' [ -e "$work/sharded" ]

refused_with() { # TEXT VARIABLE=VALUE...
  local text=$1
  shift
  export "$@"
  refuse 2 "$text" run --level smoke --shard auto --out never
  unset "${launchers[@]}"
}
unset_text='--shard auto finds no launcher'
refuse 2 "$unset_text" run --level smoke --shard auto --out never
refused_with 'JOB_COMPLETION_INDEX is set, and JOB_COMPLETIONS is not' JOB_COMPLETION_INDEX=1
refused_with 'PMI_SIZE is set, and PMI_RANK is not' PMI_SIZE=2
refused_with 'PMI_RANK=2 is no place among the PMI_SIZE=2 of PMI' PMI_RANK=2 PMI_SIZE=2
refused_with "the variable PMI_RANK 'x' is not" PMI_RANK=x PMI_SIZE=2
refused_with 'is no place among' SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 \
  SLURM_ARRAY_TASK_MIN=1
refused_with 'Bazel says 0/2 and GoogleTest says 1/2; say which with --shard I/N' \
  TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=2
refused_with 'the Slurm array says 0/4 and Open MPI says 1/2' SLURM_ARRAY_TASK_ID=0 \
  SLURM_ARRAY_TASK_COUNT=4 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2
SLURM_PROCID=1 SLURM_NTASKS=2 expect 0 \
  'the Slurm task says shard 1/2, and without --shard auto this run does all cases' \
  run --level smoke --suite encode_scale --out whole
SLURM_PROCID=1 SLURM_NTASKS=2 expect 0 '' run --level smoke --shard 0/3 --suite encode_scale --out w
check 'what is typed counts' grep -q '"shard":"0/3"' w/shard-0-of-3/results.jsonl

# Of one suite, as many parts follow.
what+=(--suite convert)
expect 1 'Not conformant' run --out short "${what[@]}"

# All parts at once in one folder, as a launcher starts them. One is killed amid its cases and goes
# on; then the record is that of one process, byte for byte.
launch() { # OUT COUNT INDEX-VARIABLE COUNT-VARIABLE: leaves the ids of the processes in parts
  local i
  parts=()
  for ((i = 0; i < $2; ++i)); do
    env "$3=$i" "$4=$2" "$mxcheck" run --shard auto --out "$1" "${what[@]}" --resume \
      >"$1.$i.log" 2>&1 &
    parts+=($!)
  done
}
has_cases() { [ "$(grep -sc '"kind":"case"' "$1")" -gt 0 ]; }
killed_and_resumed() { # NAME INDEX-VARIABLE COUNT-VARIABLE
  local i killed=3
  launch "$1" 8 "$2" "$3"
  check "$1: part $killed begins" within_seconds 60 has_cases "$1/shard-$killed-of-8/results.jsonl"
  kill -STOP "${parts[killed]}" && sed -i '4,$d' "$1/shard-$killed-of-8/results.jsonl"
  kill -KILL "${parts[killed]}"
  wait "${parts[@]}" 2>"$1.killed"
  refuse 2 'shard 3/8 is not finished' merge "$1"
  cp "$1/shard-2-of-8/results.jsonl" untouched
  launch "$1" 8 "$2" "$3"
  wait "${parts[@]}"
  check "$1: a part that had ended is left as it is" cmp untouched "$1/shard-2-of-8/results.jsonl"
  check "$1: the killed one goes on" grep -q 'cases are already done' "$1.3.log"
  expect 1 'Not conformant' merge "$1"
  check "$1: one killed and resumed, the same bytes" cmp short/results.jsonl "$1/results.jsonl"
}
killed_and_resumed kubernetes JOB_COMPLETION_INDEX JOB_COMPLETIONS
killed_and_resumed openmpi OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
killed_and_resumed srun SLURM_PROCID SLURM_NTASKS

# The examples, each on this one machine.
export MXCHECK=$mxcheck OUT=slurm
for id in 5 6 7; do
  SLURM_PROCID=0 SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=5 \
    "$examples/slurm_array.sh" "${what[@]}" >"slurm.$id.log" 2>&1
done
expect 1 'Not conformant' merge slurm
check 'a Slurm array gives the same bytes' cmp short/results.jsonl slurm/results.jsonl
job=$(sed -n 's!^ *\(mxcheck run.*\)/results !\1pod !p' "$examples/kubernetes_job.yaml")
for id in 0 1 2; do
  check "pod $id ends well although its part has mismatches" \
    env JOB_COMPLETION_INDEX=$id JOB_COMPLETIONS=3 PATH="$(dirname "$mxcheck"):$PATH" \
    sh -c "$job" sh "${what[@]}"
done
check 'but not where nothing was run' never env JOB_COMPLETION_INDEX=0 \
  PATH="$(dirname "$mxcheck"):$PATH" sh -c "$job" sh "${what[@]}"
expect 1 'Not conformant' merge pod
check 'the command of the Kubernetes job gives the same bytes' \
  cmp short/results.jsonl pod/results.jsonl

mkdir fake
cat >fake/mpirun <<'EOF'
#!/usr/bin/env bash
# Starts the ranks as Open MPI does, one after the other.
[ "$1" = -n ] || exit 9
for ((rank = 0; rank < $2; ++rank)); do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$2 "${@:3}" || exit
done
EOF
chmod +x fake/mpirun
mpi() { # OUT: the example, its exit code in mpi_code
  OUT=$1 "$examples/mpirun.sh" 3 "${what[@]}" >"$1.log" 2>&1
  mpi_code=$?
}
PATH=$PWD/fake:$PATH mpi mpi
check 'the mpirun example ends as the run does' [ "$mpi_code" -eq 1 ]
check 'mpirun, made up, gives the same bytes' cmp short/results.jsonl mpi/results.jsonl
if [ -n "$(type -P mpirun)" ]; then
  options='--oversubscribe'
  [ "$(id -u)" -ne 0 ] || options+=' --allow-run-as-root'
  MPIRUN_OPTIONS=$options mpi real
  check 'the mpirun of this machine gives the same bytes' \
    cmp short/results.jsonl real/results.jsonl
  # shellcheck disable=SC2086
  mpirun $options --mca orte_abort_on_non_zero_status 0 -n 3 \
    "$mxcheck" run --shard auto --out plain "${what[@]}" >plain.log 2>&1
  expect 1 'Not conformant' merge plain
  check 'mpirun alone, all ranks in one folder, the same bytes' \
    cmp short/results.jsonl plain/results.jsonl
else
  echo 'NOT RUN: the mpirun example with a real mpirun (there is none here)'
fi
finish
