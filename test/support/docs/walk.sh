# Runs the commands of a page, one after the other, in this shell. Prints after the output of each
# its first and last line, its exit code and the one that the page names. Stops where they differ.
mapfile -t __lines <"$1"
__text=
for __at in "${!__lines[@]}"; do
  if [[ -z $__text ]]; then
    [[ ${__lines[__at]} =~ ^[[:space:]]*(#.*)?$ ]] && continue
    __from=$__at
  fi
  __text+=${__lines[__at]}$'\n'
  # A command is complete if it can be the body of a function. In a shell of its own, because some
  # errors of syntax end a shell.
  [[ $__text == *\\$'\n' ]] && continue
  (eval "__complete() { $__text"$'\n}') 2>/dev/null || continue
  __wanted=0
  [[ $__text =~ '# exits with '([0-9]+) ]] && __wanted=${BASH_REMATCH[1]}
  eval "$__text"
  __code=$?
  printf '<<%d %d %d %d>>\n' "$__from" "$__at" "$__code" "$__wanted"
  [[ $__code == "$__wanted" ]] || exit 1
  __text=
done
[[ -z $__text ]] || eval "$__text"
