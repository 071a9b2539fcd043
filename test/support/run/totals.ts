/** How a test run ended. */
export interface Totals {
  passed: number
  failed: number
  /** Skipped, marked as to do, or left out by a name pattern. */
  skipped: number
}

/**
 * Counts from a JUnit report of `bun test` (empty if none was written) and bun's exit code. A run
 * that ran no test, or that failed outside any test, counts as one failure: a file that does not
 * load is missing from the report.
 */
export const totalsOf = (report: string, exitCode: number): Totals => {
  const root = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? ''
  const count = (name: string): number =>
    Number(new RegExp(`\\s${name}="(\\d+)"`).exec(root)?.[1] ?? 0)
  const [skipped, failures] = [count('skipped'), count('failures')]
  const passed = count('tests') - failures - skipped
  const wentWrong = exitCode !== 0 || passed === 0
  return { passed, failed: Math.max(failures, wentWrong ? 1 : 0), skipped }
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
}
const textOf = (escaped: string): string =>
  escaped.replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)

export interface Failure {
  file: string
  name: string
  /** The name of the error: `AssertionError`, or `TimeoutError` for a wait that ran out of time. */
  type: string
}

/** The tests of a JUnit report that failed: a long output rarely shows them. */
export const failuresOf = (report: string): Failure[] =>
  [...report.matchAll(/<testcase\b([^>]*[^/])>\s*<failure\b([^>]*)>/g)].map(
    ([, test = '', failure = '']) => {
      const value = (attributes: string, name: string) =>
        textOf(new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')
      return { file: value(test, 'file'), name: value(test, 'name'), type: value(failure, 'type') }
    },
  )

/** What did not load, or was running when its worker crashed, is missing from the report. */
export const missingFrom = (report: string, files: readonly string[]): Failure[] => {
  const found = new Set(
    [...report.matchAll(/<testsuite\b[^>]*\sfile="([^"]*)"/g)].map(([, f]) => f),
  )
  return files
    .filter((file) => !found.has(file))
    .map((file) => ({ file, name: '(the file did not run)', type: 'Missing' }))
}

/** The closing line of a run. */
export const lineOf = ({ passed, failed, skipped }: Totals): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
