/** The sections of the bench: what each measures, in full and in quick size. */
import { loadavg } from 'node:os'
import { agent, agentWaiting, conversations } from './agent/agent.ts'
import type { FiguresFile, Row, Section } from './figures.ts'
import { machine, residentMiB } from './meter.ts'
import { asleep } from './sections/asleep.ts'
import { background } from './sections/background.ts'
import { backups } from './sections/backups.ts'
import { cli } from './sections/cli.ts'
import { contained } from './sections/contained.ts'
import { delivery } from './sections/delivery.ts'
import { documents } from './sections/documents.ts'
import { due } from './sections/due.ts'
import { fairness } from './sections/fairness.ts'
import { hints } from './sections/hints.ts'
import { inbox } from './sections/inbox.ts'
import { lateness } from './sections/lateness.ts'
import { lists } from './sections/lists.ts'
import { mcp } from './sections/mcp.ts'
import { nodes } from './sections/nodes.ts'
import { scale } from './sections/scale.ts'
import { start } from './sections/start.ts'
import { tenants } from './sections/tenants.ts'
import { throughput, wakeAll } from './sections/throughput.ts'
import { startServer, type World } from './world.ts'

/** These share one server, and so does `memory`, which says what their load left of it. */
const ON_ONE_SERVER = ['throughput', 'mcp', 'fairness', 'due'] as const
export const SECTIONS = [
  ...ON_ONE_SERVER,
  'memory',
  'agent',
  'conversations',
  'waiting',
  'documents',
  'lists',
  'inbox',
  'contained',
  'lateness',
  'background',
  'delivery',
  'backups',
  'hints',
  'nodes',
  'tenants',
  'asleep',
  'start',
  'cli',
  'scale',
] as const

type Name = (typeof SECTIONS)[number]

/** A quick run is smaller; a size given as text replaces the usual one. */
export interface Sizes {
  quick: boolean
  seconds?: string | undefined
  posts?: string | undefined
  jobs?: string | undefined
  sleepers?: string | undefined
  awake?: string | undefined
}

interface Plan {
  only: string[]
  durable: boolean
  sizes: Sizes
}

type Measure = (name: Name, section: () => Promise<Row[]>) => Promise<void>

const commit = (): string => {
  const git = (...args: string[]) =>
    Bun.spawnSync(['git', ...args])
      .stdout.toString()
      .trim()
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', ':!test/bench/figures.json', ':!test/bench/README.md') === '' ? '' : '+'}`
}

const onOneServer = async (
  world: World,
  measure: Measure,
  { only, sizes }: Plan,
): Promise<void> => {
  const { quick, posts } = sizes
  const seconds = (usual: number, short: number) => Number(sizes.seconds ?? (quick ? short : usual))
  await using server = await startServer(world)
  const atRest = residentMiB(server.pid)
  await wakeAll(world, server)
  const rounds = quick ? 2 : 4
  const callers = quick ? [32] : [1, 32, 256]
  await measure('throughput', () =>
    throughput(world, server, {
      seconds: seconds(0.4, 0.2),
      rounds,
      callers,
      warmUpSeconds: quick ? 2 : 30,
    }),
  )
  await measure('mcp', () =>
    mcp(world, server, {
      seconds: seconds(1, 0.3),
      rounds,
      callers: 16,
      warmUpRounds: quick ? 2 : 15,
    }),
  )
  await measure('fairness', () =>
    fairness(world, server, { seconds: seconds(1.2, 0.4), repeats: quick ? 2 : 5 }),
  )
  await measure('due', async () => [
    await due(world, server, {
      posts: Number(posts ?? (quick ? 200 : 10_000)),
      tenants: quick ? 20 : world.tenants.length,
    }),
  ])
  // Less load would leave another size.
  if (ON_ONE_SERVER.every((name) => only.includes(name)))
    await measure('memory', async () => [
      { what: 'resident memory of the server, at rest', figures: { mib: atRest } },
      {
        what: 'resident memory of the server, after the load above',
        figures: { mib: residentMiB(server.pid) },
      },
    ])
  await server.stop()
}

const onOthers = async (
  world: World,
  measure: Measure,
  { sizes, durable }: Plan,
): Promise<void> => {
  const { quick, seconds, jobs, awake, sleepers } = sizes
  const size = (given: string | undefined, usual: number, short: number): number =>
    Number(given ?? (quick ? short : usual))
  await measure('agent', () => agent(world, quick))
  await measure('conversations', () => conversations(world, quick))
  await measure('waiting', () => agentWaiting(world, quick))
  await measure('documents', () =>
    documents(
      world,
      quick
        ? { documents: 200, queries: 40, added: 10 }
        : { documents: 10_000, queries: 200, added: 50 },
    ),
  )
  await measure('lists', () =>
    lists(world, quick ? { items: 20_000, requests: 20 } : { items: 100_000, requests: 60 }),
  )
  await measure('inbox', () =>
    inbox(world, {
      drafts: 10_000,
      calls: 200,
      requests: quick ? 100 : 400,
      rounds: quick ? 3 : 6,
    }),
  )
  await measure('contained', () =>
    contained(world, {
      seconds: size(seconds, 4, 2),
      repeats: quick ? 1 : 4,
      slowSeconds: quick ? 4 : 16,
    }),
  )
  await measure('lateness', () =>
    quick
      ? lateness(world, {
          rounds: 1,
          posts: 20,
          beside: { messages: 40, jobs: 20, deliveries: 100, seconds: 4 },
          due: 200,
          turns: 10,
        })
      : lateness(world, {
          rounds: 3,
          posts: 100,
          beside: { messages: 400, jobs: 200, deliveries: 1_000, seconds: 20 },
          due: 2_000,
          turns: 60,
        }),
  )
  await measure('background', () =>
    background(world, { jobs: size(jobs, 5_000, 400), rounds: quick ? 1 : 2 }),
  )
  await measure('delivery', () =>
    delivery(world, { events: quick ? 10 : 50, silent: quick ? [1] : [1, 200, 400] }),
  )
  await measure('backups', () =>
    backups(
      world,
      quick
        ? { seconds: 3, repeats: 1, callers: [1] }
        : { seconds: size(seconds, 6, 6), repeats: 4, callers: [1, 16] },
    ),
  )
  await measure('hints', () =>
    hints(world, { readers: 100, seconds: size(seconds, 5, 3), rounds: quick ? 2 : 6 }),
  )
  await measure('nodes', () =>
    nodes(world, {
      seconds: size(seconds, 1, 0.4),
      rounds: quick ? 2 : 4,
      tenants: world.tenants.length,
      warmUpSeconds: quick ? 1 : 6,
    }),
  )
  await measure('tenants', () =>
    tenants(world, {
      letters: quick ? 1_000 : 4_000,
      known: quick ? 20_000 : 100_000,
      awake: size(awake, 10_000, 200),
    }),
  )
  await measure('asleep', () =>
    asleep({ workspaces: quick ? 500 : 5_000, seconds: quick ? 10 : 60 }, durable),
  )
  await measure('start', () => start(world, !quick))
  await measure('cli', () => cli(world, { rounds: quick ? 5 : 25, withBinary: !quick }))
  await measure('scale', () =>
    scale(world, { sleepers: size(sleepers, 1_000_000, 20_000), due: quick ? 1_000 : 10_000 }),
  )
}

/**
 * Runs the sections wanted. One that fails is left out and reported; the results of the others are
 * still worth reading.
 */
export async function measured(world: World, plan: Plan): Promise<FiguresFile> {
  const origin: Omit<Section, 'rows'> = {
    commit: commit(),
    date: new Date().toISOString().slice(0, 10),
    machine: await machine(world.owner, plan.durable),
  }
  console.log(`${origin.machine}; load average before ${loadavg()[0]?.toFixed(1)}\n`)
  const found: FiguresFile = {}
  const measure: Measure = async (name, section) => {
    if (!plan.only.includes(name)) return
    const started = performance.now()
    try {
      found[name] = { ...origin, rows: await section() }
    } catch (cause) {
      console.error(`${name} FAILED:`, cause)
      process.exitCode = 1
    }
    console.error(`${name}: ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  }
  if (ON_ONE_SERVER.some((name) => plan.only.includes(name)))
    await onOneServer(world, measure, plan)
  await onOthers(world, measure, plan)
  return found
}
