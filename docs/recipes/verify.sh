#!/bin/sh
# Verify a commitments repository, and before that, if asked, complete its timestamps.
#
#     docs/recipes/verify.sh                                          the repository you stand in
#     TARGET=wave1 docs/recipes/verify.sh                             one part of it
#     UPGRADE=true COMMIT=true PUSH=true docs/recipes/verify.sh       a job on a clone, once an hour
#
# The options of `seal verify` are variables too: SEAL_VERIFY_NETWORK, SEAL_VERIFY_KEY, … (docs/cli.md).
# Exit code: that of `seal verify`, but 0 for 3 (not yet) unless PENDING=fail. A false workspace is never
# committed. Needs `seal` on the path; git only with COMMIT.
set -eu

in_actions=${GITHUB_ACTIONS:-false}

tell() { # tell LEVEL TEXT
  if [ "$in_actions" = true ]; then
    printf '::%s title=seal::%s\n' "$1" "$2"
  else
    printf '%s: %s\n' "$1" "$2" >&2
  fi
}

# What seal prints quotes the files under test: in a log that obeys commands, obey none of it.
guarded() {
  mark=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  [ "$in_actions" != true ] || printf '::stop-commands::%s\n' "$mark"
  result=0
  "$@" || result=$?
  [ "$in_actions" != true ] || printf '::%s::\n' "$mark"
  return "$result"
}

commit_proofs() {
  for file in commitments/headers.bin commitments/files.json; do
    [ ! -f "$file" ] || git add -- "$file"
  done
  git ls-files -z --modified -- '*.ots' | git add --pathspec-from-file=- --pathspec-file-nul
  if git diff --cached --quiet; then
    echo "no proof has changed"
    return
  fi
  git -c user.name="${COMMIT_NAME:-seal upgrade}" -c user.email="${COMMIT_EMAIL:-seal-upgrade@localhost}" \
    commit --quiet --message "Timestamps confirmed"
  git --no-pager show --stat --oneline HEAD
  if [ "${PUSH:-false}" = true ]; then
    git push --quiet || { tell error "the confirmed timestamps could not be pushed: the next run does it"; return 4; }
  fi
}

if [ "${COMMIT:-false}" = true ] && ! git diff --cached --quiet; then
  tell error "something is staged already: commit or unstage it first"
  exit 2
fi

upgraded=0
if [ "${UPGRADE:-false}" = true ]; then
  guarded seal upgrade || upgraded=$?
fi

verified=0
guarded seal verify -- "${TARGET:-.}" || verified=$?
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'exit-code=%s\n' "$verified" >> "$GITHUB_OUTPUT"

committed=0
if [ "${COMMIT:-false}" = true ] && [ "$verified" -ne 1 ]; then
  commit_proofs || committed=$?
fi

case $verified in
  0) ;;
  3)
    tell warning "not yet: something waits for its block, its run or its reveal"
    [ "${PENDING:-pass}" = pass ] || exit 3
    ;;
  *)
    tell error "seal verify ended with exit code $verified"
    exit "$verified"
    ;;
esac
case $upgraded in
  0 | 3) exit "$committed" ;;
  *)
    tell error "seal upgrade ended with exit code $upgraded"
    exit "$upgraded"
    ;;
esac
