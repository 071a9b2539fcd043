/**
 * The test suite on a Postgres of its own (test/support/database/postgres.ts says which):
 * `npm test`, or for a part of it `npm test -- <files and other arguments of bun test>`. Slow tests
 * and storms run only where the arguments name them or their folder; tests that compare times
 * (`*.timed.test.ts`) run alone, after the others. With `--again`, files whose tests failed by time
 * alone run once more; with `--changed`, or `--changed=COMMIT`, those tests run that what is not
 * committed, or differs from that commit, can reach. Everything that it starts has stopped when it
 * ends.
 */
import { join } from 'node:path'
import { AppError } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { buildTemplate, TEMPLATE_VARIABLE, type Template } from './support/database/db.ts'
import { startPostgres } from './support/database/postgres.ts'
import { temporaryFolder } from './support/folder.ts'
import { BUNDLE_VARIABLE } from './support/processes/bundle.ts'
import { filesToRunAgain } from './support/run/again.ts'
import { filesOf, runsFor, withDefaults } from './support/run/arguments.ts'
import { filesChangedSince, readFile, testsReachedBy } from './support/run/changed.ts'
import { folderInMemory } from './support/run/memory.ts'
import {
  type Failure,
  failuresOf,
  lineOf,
  missingFrom,
  type Totals,
  totalsOf,
} from './support/run/totals.ts'

const PARENT_POLL_MS = 500
const NONE: Totals = { passed: 0, failed: 0, skipped: 0 }
const AGAIN = '--again'
const CHANGED = /^--changed(?:=(.+))?$/

/**
 * Ends the tests on SIGINT and SIGTERM, and when the parent has gone: npm, told to stop, does not
 * pass that on. What was started before is then disposed of as after any run.
 */
const interruption = (): AbortSignal => {
  const controller = new AbortController()
  const stop = (reason: string) =>
    controller.abort(new AppError('unavailable', `stopped: ${reason}`))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal))
  const parent = process.ppid
  setInterval(
    () => process.ppid !== parent && stop('what started the tests has ended'),
    PARENT_POLL_MS,
  ).unref()
  return controller.signal
}

const allTests = (): string[] => [...new Bun.Glob('test/**/*.test.ts').scanSync()]

interface Run extends Totals {
  failures: Failure[]
}

/**
 * A run of many short tests spends more on the last tier of the compiler, and on giving memory back
 * to the system, than either saves it.
 */
const THRIFT = { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '-1' }

const runTests = async (
  args: string[],
  { options, name, logins }: Template,
  signal: AbortSignal,
): Promise<Run> => {
  await using folder = await temporaryFolder()
  const report = join(folder.path, 'report.xml')
  const env = {
    ...THRIFT,
    ...process.env,
    DATABASE_URL: undefined,
    [TEMPLATE_VARIABLE]: JSON.stringify({ options, name, logins }),
    [BUNDLE_VARIABLE]: join(folder.path, 'bundle'),
  }
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`]
  const child = Bun.spawn([process.execPath, '--no-orphans', 'test', ...reporter, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
    signal,
  })
  const exitCode = await child.exited
  const file = Bun.file(report)
  const xml = (await file.exists()) ? await file.text() : ''
  const totals = totalsOf(xml, exitCode)
  const [failed, missing] = [failuresOf(xml), missingFrom(xml, filesOf(args, allTests()) ?? [])]
  const failures = [...failed, ...missing]
  return { ...totals, failed: Math.max(totals.failed, failures.length), failures }
}

const addTo = (sum: Run, run: Run): void => {
  for (const count of ['passed', 'failed', 'skipped'] as const) sum[count] += run[count]
  sum.failures.push(...run.failures)
}

/** Runs each file alone. A test that passes now counts as passed, and is named: it is flaky. */
const runAgain = async (first: Run, again: (file: string) => Promise<Run>): Promise<Run> => {
  let failures = first.failures
  for (const file of filesToRunAgain(failures, first.failed)) {
    console.log(`\nonce more, alone: ${file}`)
    const second = await again(file)
    if (second.failed > 0) continue
    for (const { name } of failures.filter((one) => one.file === file))
      console.log(`flaky: ${file}: ${name}`)
    failures = failures.filter((one) => one.file !== file)
  }
  const passedNow = first.failures.length - failures.length
  return {
    passed: first.passed + passedNow,
    failed: first.failed - passedNow,
    skipped: first.skipped,
    failures,
  }
}

/** Replaces `--changed` by the tests that it stands for; undefined if there are none. */
const withChanged = (args: string[]): string[] | undefined => {
  const given = args.map((arg) => CHANGED.exec(arg)).find((match) => match !== null)
  if (!given) return args
  const usual = allTests().filter((path) => !/\.(slow|storm)\.test\.ts$/.test(path))
  const reached = testsReachedBy(filesChangedSince(given[1] ?? 'HEAD'), usual, readFile)
  if (reached.length === 0) return undefined
  return [...args.filter((arg) => !CHANGED.test(arg)), ...reached]
}

const run = async (args: string[]): Promise<Totals> => {
  const signal = interruption()
  const log = createLog('warn')
  await using server = await startPostgres(process.env, log)
  signal.throwIfAborted()
  await using template = await buildTemplate(server.options, log)
  signal.throwIfAborted()
  const timed = allTests().filter((path) => path.endsWith('.timed.test.ts'))
  const first: Run = { ...NONE, failures: [] }
  for (const options of runsFor(
    args.filter((arg) => arg !== AGAIN),
    timed,
  )) {
    console.log(`Postgres: ${server.name}. bun test ${options.join(' ')}`)
    addTo(first, await runTests(options, template, signal))
  }
  const alone = (file: string) => runTests(withDefaults([file]), template, signal)
  const { failures, ...totals } = args.includes(AGAIN) ? await runAgain(first, alone) : first
  for (const { file, name } of failures) console.log(`failed: ${file}: ${name}`)
  return totals
}

const inMemory = process.env.TMPDIR ? undefined : folderInMemory()
if (inMemory) process.env.TMPDIR = inMemory
const args = withChanged(process.argv.slice(2))
if (!args) {
  console.log(`nothing that changed can be reached by a test\n${lineOf(NONE)}`)
  process.exit(0)
}
const totals = await run(args).catch((cause: unknown) => {
  console.error(cause instanceof AppError ? cause.message : cause)
  return totalsOf('', 1)
})
console.log(lineOf(totals))
process.exit(totals.failed > 0 ? 1 : 0)
