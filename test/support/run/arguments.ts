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

const WITHOUT_SLOW = ['slow', 'storm'].map((kind) => `--path-ignore-patterns=**/*.${kind}.test.ts`)

/**
 * The arguments of `bun test` for those of `npm test`. Slow tests and storms run only where files
 * or folders are named.
 */
export const withDefaults = (args: readonly string[]): string[] => {
  const given = new Set(args.map((arg) => arg.split('=')[0]))
  const namesFiles = args.some((arg) => !arg.startsWith('-'))
  const usual = [...defaults(), ...(namesFiles ? [] : WITHOUT_SLOW)]
  return ['--randomize', ...usual.filter((option) => !given.has(option.split('=')[0])), ...args]
}
