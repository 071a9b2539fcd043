/**
 * Measures and prints a table: `npm run bench`, or with `-- --quick` in half a minute. Everything is on this machine, over loopback,
 * and is compared with a peer or a limit measured in the same run: trust the ratios.
 */
import { parseArgs } from 'node:util'
import { due } from './due.ts'
import { fairness } from './fairness.ts'
import { residentMiB } from './spawn.ts'
import { start } from './start.ts'
import { machine, mib, print, type Row } from './table.ts'
import { tenants } from './tenants.ts'
import { throughput, wakeAll } from './throughput.ts'
import { openWorld, startServer } from './world.ts'

const SECTIONS = ['throughput', 'fairness', 'due', 'tenants', 'start'] as const

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Some of the sections, by comma. */
    only: { type: 'string', default: SECTIONS.join(',') },
    /** Without waiting for the disk at each commit, as on a machine whose disk is fast. */
    'no-fsync': { type: 'boolean', default: false },
    seconds: { type: 'string' },
    posts: { type: 'string' },
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
const rows: Row[] = []

const measure = async (name: (typeof SECTIONS)[number], section: () => Promise<Row[]>): Promise<void> => {
  if (!wanted.has(name)) return
  const started = performance.now()
  rows.push(...(await section()))
  console.error(`${name}: ${((performance.now() - started) / 1_000).toFixed(0)} s`)
}

{
  await using server = await startServer(world)
  const atRest = residentMiB(server.pid)
  if (wanted.has('throughput') || wanted.has('fairness') || wanted.has('due')) await wakeAll(world, server)
  const callers = values.quick ? [32] : [1, 32, 256]
  await measure('throughput', () => throughput(world, server, { seconds: size(values.seconds, 0.9, 0.3), callers }))
  await measure('fairness', () => fairness(world, server, size(values.seconds, 4, 0.7)))
  await measure('due', async () => [await due(world, server, { posts: size(values.posts, 1_000, 200), tenants: values.quick ? 20 : 100 })])
  rows.push({ what: 'resident memory of the server', result: `at rest ${mib(atRest)}, after this load ${mib(residentMiB(server.pid))}` })
  await server.stop()
}
await measure('tenants', () =>
  tenants(world, {
    letters: size(undefined, 4_000, 1_000),
    known: size(undefined, 100_000, 20_000),
    awake: size(values.awake, 2_000, 200),
  }),
)
await measure('start', () => start(world, !values.quick))
print(rows)
console.log(`\nHono is not among the peers: it is not installed. Took ${((performance.now() - began) / 1_000).toFixed(0)} s.`)
