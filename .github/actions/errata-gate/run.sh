#!/usr/bin/env bash
# Run, gate, and write both into the job summary. The values come from the environment, never from the command text.
set -euo pipefail

out="${ERRATA_OUT:-errata-report}"
report="$out/report.json"
summary="${GITHUB_STEP_SUMMARY:-/dev/null}"
outputs="${GITHUB_OUTPUT:-/dev/null}"
mkdir -p "$out"

run=(errata run --out "$report" --also "$out/report.md" --also "$out/report.html" --also "$out/junit.xml")
[[ -n "${ERRATA_SET:-}" ]] && run+=("$ERRATA_SET")
[[ -n "${ERRATA_PIPELINE:-}" ]] && run+=(--pipeline "$ERRATA_PIPELINE")
[[ -n "${ERRATA_RESPONSES:-}" ]] && run+=(--responses "$ERRATA_RESPONSES")
[[ -n "${ERRATA_CORPUS:-}" ]] && run+=(--corpus "$ERRATA_CORPUS")
# Word splitting is wanted here: these hold several arguments.
# shellcheck disable=SC2206
run+=(${ERRATA_RUN_ARGUMENTS:-})

gate=(errata gate --current "$report" --format markdown --out "$out/gate.json")
[[ -n "${ERRATA_BASELINE:-}" ]] && gate+=(--baseline "$ERRATA_BASELINE")
[[ -n "${ERRATA_TOLERANCE:-}" ]] && gate+=(--tolerance "$ERRATA_TOLERANCE")
# shellcheck disable=SC2206
gate+=(${ERRATA_GATE_ARGUMENTS:-})

code=0
"${run[@]}" > "$out/report.txt" || code=$?
if [[ -f "$report" ]]; then
  gate_code=0
  "${gate[@]}" > "$out/gate.md" || gate_code=$?
  code=$(( gate_code != 0 ? gate_code : code ))
  cat "$out/gate.md" >> "$summary"
  cat "$out/report.md" >> "$summary"
  cat "$out/gate.md"
fi
{
  echo "exit-code=$code"
  echo "report=$report"
} >> "$outputs"
exit "$code"
