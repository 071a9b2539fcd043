/**
 * What every fault harness needs around its run: options, a Postgres of its own, one summary line,
 * the exit code.
 */
import { parseArgs } from 'node:util'
import { createLog } from '#kernel/log'
import { buildTemplate, TEMPLATE_VARIABLE } from '#test/support/database/db'
import { startPostgres } from '#test/support/database/postgres'
import type { Verdict } from './ledger.ts'

/**
 * Parses `--rounds 4 --seed 7` over the defaults, and flags such as `--naive`; throws for a name of
 * neither, or a value that is not a number.
 */
export const optionsFrom = <T extends Record<string, number>, F extends string = never>(
  defaults: T,
  args: string[],
  flags: readonly F[] = [],
): T & Record<F, boolean> => {
  const options = Object.fromEntries([
    ...Object.keys(defaults).map((name) => [name, { type: 'string' as const }] as const),
    ...flags.map((name) => [name, { type: 'boolean' as const, default: false }] as const),
  ])
  const { values } = parseArgs({ args, options })
  const parsed = Object.entries(values).map(
    ([name, value]) => [name, typeof value === 'boolean' ? value : Number(value)] as const,
  )
  for (const [name, value] of parsed)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`--${name} takes a number`)
  return { ...defaults, ...Object.fromEntries(parsed) } as T & Record<F, boolean>
}

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

/**
 * A harness as a program: runs with a database template and the options of the command line, prints
 * the verdict, and exits.
 */
export async function alone<T extends Record<string, number>, F extends string = never>(
  name: string,
  defaults: T,
  run: (options: T & Record<F, boolean>) => Promise<Verdict>,
  ...flags: F[]
): Promise<never> {
  const options = optionsFrom(defaults, process.argv.slice(2), flags)
  const { counts, broken, late = [] } = await withTemplate(() => run(options))
  const problems = [...broken, ...late]
  for (const line of problems) console.error(`broken: ${line}`)
  const figures = Object.entries(counts).map(([what, count]) => `${what}=${count}`)
  console.log([`${name}:`, ...figures, problems.length === 0 ? 'ok' : 'BROKEN'].join(' '))
  process.exit(problems.length === 0 ? 0 : 1)
}
