/**
 * Used where the caller's arguments do not name the same option. Tests wait more than they compute,
 * so four of them keep two cores busy. A test that waits for a busy machine is not yet wrong.
 */
const defaults = () => [
  '--parallel=4',
  '--no-isolate',
  '--timeout=60000',
  `--seed=${Math.floor(Math.random() * 2 ** 31)}`,
]

const isOption = (arg: string): boolean => arg.startsWith('-')

const without = (kind: string) => `--path-ignore-patterns=**/*.${kind}.test.ts`
const WITHOUT_SLOW = ['slow', 'storm'].map(without)

/**
 * The arguments of `bun test` for those of `npm test`. Slow tests and storms run only where files
 * or folders are named.
 */
export const withDefaults = (args: readonly string[]): string[] => {
  const given = new Set(args.map((arg) => arg.split('=')[0]))
  const namesFiles = args.some((arg) => !isOption(arg))
  const usual = [...defaults(), ...(namesFiles ? [] : WITHOUT_SLOW)]
  return ['--randomize', ...usual.filter((option) => !given.has(option.split('=')[0])), ...args]
}

const NAMES_TESTS = /^(-t|--test-name-pattern)\b/

/**
 * The arguments of one run after the other. `timed` are the paths of all tests that compare times:
 * those that are asked for run alone, once the others are over. Tests that are asked for by their
 * names are in one run, since the other might have none.
 */
export const runsFor = (args: readonly string[], timed: readonly string[]): string[][] => {
  if (args.some((arg) => NAMES_TESTS.test(arg))) return [withDefaults(args)]
  const [options, names] = [args.filter(isOption), args.filter((arg) => !isOption(arg))]
  const isAsked = (path: string) => names.length === 0 || names.some((name) => path.includes(name))
  const [alone, others] = [timed.filter(isAsked), names.filter((name) => !timed.includes(name))]
  const [hasOthers, hasAlone] = [names.length === 0 || others.length > 0, alone.length > 0]
  return [
    ...(hasOthers ? [[without('timed'), ...withDefaults([...options, ...others])]] : []),
    ...(hasAlone ? [withDefaults(['--parallel=1', ...options, ...alone])] : []),
  ]
}
