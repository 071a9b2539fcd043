/**
 * What every fault harness needs around its run: options, a Postgres of its own, one summary line,
 * the exit code.
 */
import { parseArgs } from 'node:util'
import { createLog } from '#kernel/log'
import { buildTemplate, TEMPLATE_VARIABLE } from '#test/support/database/db'
import { startPostgres } from '#test/support/database/postgres'

/** The counts of a run, in the order of the summary line. */
export type Counts = Record<string, number | string>

export interface Finished {
  counts: Counts
  /** Each broken invariant, described; the run has passed if there is none. */
  broken: string[]
}

/**
 * Parses `--rounds 4 --seed 7` over the defaults; throws for a name without a default, or a value
 * that is not a number.
 */
export const optionsFrom = <T extends Record<string, number>>(defaults: T, args: string[]): T => {
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [name, { type: 'string' as const }]),
  )
  const { values } = parseArgs({ args, options })
  const parsed = Object.entries(values).map(([name, text]) => [name, Number(text)] as const)
  for (const [name, value] of parsed)
    if (!Number.isFinite(value)) throw new Error(`--${name} takes a number`)
  return { ...defaults, ...Object.fromEntries(parsed) }
}

const summaryOf = (name: string, { counts, broken }: Finished): string =>
  [
    `${name}:`,
    ...Object.entries(counts).map(([what, count]) => `${what}=${count}`),
    broken.length === 0 ? 'ok' : 'BROKEN',
  ].join(' ')

/** Runs with a database template, as the test runner provides it. */
export async function withTemplate<T>(run: () => Promise<T>): Promise<T> {
  const log = createLog('error')
  await using server = await startPostgres(process.env, log)
  await using template = await buildTemplate(server.options, log)
  process.env[TEMPLATE_VARIABLE] = JSON.stringify({
    options: template.options,
    name: template.name,
    logins: template.logins,
  })
  return await run()
}

/** Runs with a database template, prints the result, and exits. */
export async function alone(name: string, run: () => Promise<Finished>): Promise<never> {
  const finished = await withTemplate(run)
  for (const line of finished.broken) console.error(`broken: ${line}`)
  console.log(summaryOf(name, finished))
  process.exit(finished.broken.length === 0 ? 0 : 1)
}
