/**
 * Measures and prints a table: `npm run bench`, or with `-- --quick` in half a minute. Everything runs on this machine over loopback,
 * beside a peer or a limit measured in the same run: trust the ratios.
 */
import { parseArgs } from 'node:util'
import { background } from './background.ts'
import { cli } from './cli.ts'
import { delivery } from './delivery.ts'
import { due } from './due.ts'
import { fairness } from './fairness.ts'
import { mcp } from './mcp.ts'
import { residentMiB } from './meter.ts'
import { nodes } from './nodes.ts'
import { profile } from './profile.ts'
import { scale } from './scale.ts'
import { start } from './start.ts'
import { machine, mib, print, type Row } from './table.ts'
import { tenants } from './tenants.ts'
import { throughput, wakeAll } from './throughput.ts'
import { openWorld, startServer } from './world.ts'

const SECTIONS = ['throughput', 'mcp', 'fairness', 'due', 'background', 'delivery', 'nodes', 'tenants', 'start', 'cli', 'scale'] as const

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Sections to run, separated by commas. */
    only: { type: 'string', default: SECTIONS.join(',') },
    /** Commits without waiting for the disk, as on a machine with a fast disk. */
    'no-fsync': { type: 'boolean', default: false },
    /** Prints only where a request's processor time goes. */
    profile: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    posts: { type: 'string' },
    jobs: { type: 'string' },
    sleepers: { type: 'string' },
    awake: { type: 'string' },
  },
})

const size = (given: string | undefined, usual: number, quick: number): number => Number(given ?? (values.quick ? quick : usual))
const wanted = new Set(values.only.split(','))
const unknown = [...wanted].filter((name) => !SECTIONS.some((section) => section === name))
if (unknown.length > 0) throw new Error(`no section ${unknown.join(', ')}; there are ${SECTIONS.join(', ')}`)

const durable = !values['no-fsync']
const began = performance.now()
await using world = await openWorld(values.quick ? 200 : 1_000, durable)
console.log(`${await machine(world.owner, durable)}\n`)
if (values.profile) {
  console.log(await profile(world, size(values.seconds, 5, 2)))
  wanted.clear()
}
const rows: Row[] = []

const measure = async (name: (typeof SECTIONS)[number], section: () => Promise<Row[]>): Promise<void> => {
  if (!wanted.has(name)) return
  const started = performance.now()
  try {
    rows.push(...(await section()))
  } catch (cause) {
    // The results of the other sections are still worth reading.
    rows.push({ what: `**${name}**`, result: `FAILED: ${cause instanceof Error ? cause.message : String(cause)}` })
    console.error(cause)
    process.exitCode = 1
  }
  console.error(`${name}: ${((performance.now() - started) / 1_000).toFixed(0)} s`)
}

/** Sections that share one server. */
const onOneServer = async (): Promise<void> => {
  await using server = await startServer(world)
  const atRest = residentMiB(server.pid)
  await wakeAll(world, server)
  const callers = values.quick ? [32] : [1, 32, 256]
  await measure('throughput', () =>
    throughput(world, server, {
      seconds: size(values.seconds, 0.4, 0.2),
      rounds: values.quick ? 2 : 4,
      callers,
      warmUpSeconds: values.quick ? 1 : 6,
    }),
  )
  await measure('mcp', () =>
    mcp(world, server, {
      seconds: size(values.seconds, 1, 0.3),
      rounds: values.quick ? 2 : 4,
      callers: 16,
      warmUpSeconds: values.quick ? 1 : 6,
    }),
  )
  await measure('fairness', () => fairness(world, server, { seconds: size(values.seconds, 1.2, 0.4), repeats: values.quick ? 2 : 5 }))
  await measure('due', async () => [
    await due(world, server, { posts: size(values.posts, 10_000, 200), tenants: values.quick ? 20 : world.tenants.length }),
  ])
  rows.push({ what: 'resident memory of the server', result: `at rest ${mib(atRest)}, after this load ${mib(residentMiB(server.pid))}` })
  await server.stop()
}
if (['throughput', 'mcp', 'fairness', 'due'].some((name) => wanted.has(name))) await onOneServer()
await measure('background', () => background(world, { jobs: size(values.jobs, 5_000, 400), rounds: values.quick ? 1 : 2 }))
await measure('delivery', () => delivery(world, { events: values.quick ? 10 : 50, silent: values.quick ? [1] : [1, 200, 400] }))
await measure('nodes', () =>
  nodes(world, {
    seconds: size(values.seconds, 1, 0.4),
    rounds: values.quick ? 2 : 4,
    tenants: world.tenants.length,
    warmUpSeconds: values.quick ? 1 : 6,
  }),
)
await measure('tenants', () =>
  tenants(world, {
    letters: size(undefined, 4_000, 1_000),
    known: size(undefined, 100_000, 20_000),
    awake: size(values.awake, 10_000, 200),
  }),
)
await measure('start', () => start(world, !values.quick))
await measure('cli', () => cli(world, { rounds: values.quick ? 5 : 25, withBinary: !values.quick }))
await measure('scale', () => scale(world, { sleepers: size(values.sleepers, 1_000_000, 20_000), due: size(undefined, 10_000, 1_000) }))
if (rows.length > 0) print(rows)
console.log(
  `\nRates are medians of turns; µs of a request: the server's + Postgres's + the load generator's processor time. Took ${((performance.now() - began) / 1_000).toFixed(0)} s.`,
)
