/**
 * The test suite on a Postgres of its own (test/support/database/postgres.ts says which):
 * `npm test`, or for a part of it `npm test -- <files and other arguments of bun test>`. Slow tests
 * and storms run only where the arguments name them or their folder. Everything that it starts has
 * stopped when it ends.
 */
import { join } from 'node:path'
import { AppError } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { buildTemplate, TEMPLATE_VARIABLE, type Template } from './support/database/db.ts'
import { startPostgres } from './support/database/postgres.ts'
import { temporaryFolder } from './support/folder.ts'
import { BUNDLE_VARIABLE } from './support/processes/bundle.ts'
import { withDefaults } from './support/run/arguments.ts'
import { folderInMemory } from './support/run/memory.ts'
import { failuresOf, lineOf, type Totals, totalsOf } from './support/run/totals.ts'

const PARENT_POLL_MS = 500

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

const runTests = async (
  args: string[],
  template: Template,
  signal: AbortSignal,
): Promise<Totals> => {
  await using folder = await temporaryFolder()
  const report = join(folder.path, 'report.xml')
  const { options, name, logins } = template
  const env = {
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
  for (const failure of failuresOf(xml)) console.log(`failed: ${failure}`)
  return totalsOf(xml, exitCode)
}

const run = async (args: string[]): Promise<Totals> => {
  const signal = interruption()
  const log = createLog('warn')
  await using server = await startPostgres(process.env, log)
  signal.throwIfAborted()
  await using template = await buildTemplate(server.options, log)
  signal.throwIfAborted()
  console.log(`Postgres: ${server.name}. bun test ${args.join(' ')}`)
  return await runTests(args, template, signal)
}

const inMemory = process.env.TMPDIR ? undefined : folderInMemory()
if (inMemory) process.env.TMPDIR = inMemory
const totals = await run(withDefaults(process.argv.slice(2))).catch((cause: unknown) => {
  console.error(cause instanceof AppError ? cause.message : cause)
  return totalsOf('', 1)
})
console.log(lineOf(totals))
process.exit(totals.failed > 0 ? 1 : 0)
