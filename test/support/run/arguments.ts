/**
 * Used if the caller's arguments do not set the same option. Two at a time keep two cores busy
 * almost always; with four, which load and compile the same modules apart, a run takes a fifth more
 * processor time and a tenth more time. A test that waits for a busy machine is not wrong yet.
 */
const defaults = () => [
  '--parallel=2',
  '--no-isolate',
  '--timeout=120000',
  `--seed=${Math.floor(Math.random() * 2 ** 31)}`,
]

const isOption = (arg: string): boolean => arg.startsWith('-')

const without = (kind: string) => `--path-ignore-patterns=**/*.${kind}.test.ts`
const WITHOUT_SLOW = ['slow', 'storm'].map(without)

/**
 * Turns the arguments of `npm test` into those of `bun test`. Slow tests and storms run only if
 * files or folders are named.
 */
export const withDefaults = (args: readonly string[]): string[] => {
  const given = new Set(args.map((arg) => arg.split('=')[0]))
  const namesFiles = args.some((arg) => !isOption(arg))
  const usual = [...defaults(), ...(namesFiles ? [] : WITHOUT_SLOW)]
  return ['--randomize', ...usual.filter((option) => !given.has(option.split('=')[0])), ...args]
}

const NAMES_TESTS = /^(-t|--test-name-pattern)\b/

/**
 * The arguments of consecutive runs. `timed`: the paths of all tests that compare times. Those
 * among the requested ones run alone, after the others. If tests are requested by their names there
 * is one run, because the other one might have none.
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

const IGNORED = /^--path-ignore-patterns=\*\*\/\*\.(\w+)\.test\.ts$/

/**
 * The files of these that a run with arguments of `runsFor` runs; undefined where tests are
 * requested by their names, since a file without one is not in the report.
 */
export const filesOf = (args: readonly string[], all: readonly string[]): string[] | undefined => {
  if (args.some((arg) => NAMES_TESTS.test(arg))) return undefined
  const ignored = args.flatMap((arg) => IGNORED.exec(arg)?.[1] ?? [])
  const names = args.filter((arg) => !isOption(arg)).map((name) => name.replace(/^\.\//, ''))
  return all.filter(
    (file) =>
      (names.length === 0 || names.some((name) => file.includes(name))) &&
      !ignored.some((kind) => file.endsWith(`.${kind}.test.ts`)),
  )
}
