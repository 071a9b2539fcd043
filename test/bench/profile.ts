/**
 * Where the processor time of a read, a command and a due post goes: our server and a bare one (for
 * posts, DBOS) under Bun's sampling profiler, with the same requests. The profiler sees the thread
 * that runs JavaScript; the rest of that thread (event loop, kernel) and the other threads (the
 * garbage collector's, the compiler's) are what the system counted beyond that.
 */
import { join } from 'node:path'
import { resetStatements } from '../support/database/counting.ts'
import { temporaryFolder } from '../support/folder.ts'
import { cpuMs, databaseCpuMs, threadsMs } from './meter.ts'
import { PROFILE_PATCH } from './peer-sql.ts'
import { peerCommand } from './peers.ts'
import { type CpuProfile, largestFirst, type Sums, sampled } from './profile-samples.ts'
import { type Statement, statementsOf } from './profile-statements.ts'
import { get, put } from './requests.ts'
import {
  lateness,
  postsLeft,
  type Sizes,
  schedule,
  untilDue,
  untilSettled,
} from './sections/due.ts'
import { prepareItems, scheduleWorkflows, workflowsLeft } from './sections/due-peer.ts'
import { wakeAll } from './sections/throughput.ts'
import { load, type Running, startProcess } from './spawn.ts'
import type { World } from './world.ts'

interface Done {
  count: number
  /** A second. It may ask the database, so it is called when all else is counted. */
  rate(): number | Promise<number>
}

interface Subject {
  name: string
  /** The command that starts it under the profiler's flags. */
  command(flags: string[]): string[] | Promise<string[]>
  /** Resolves with what is then measured. */
  prepare(server: Running): Promise<() => Promise<Done>>
}

interface Profiled {
  name: string
  count: number
  perSecond: number
  /** In microseconds a request. */
  groups: Sums
  functions: Sums
  server: number
  database: number
  statements: Statement[]
}

const INTERVAL_US = 500
const PROFILE = 'bench.cpuprofile'
/** What the engine's threads do. */
const THREADS: Record<string, string> = {
  HeapHelper: 'garbage collector',
  JITWorker: 'compiler',
  'mi-scavenger': 'memory allocator',
  thread: 'the profiler',
}

const profiled = async (
  { owner, env }: World,
  { name, command, prepare }: Subject,
): Promise<Profiled> => {
  await using folder = await temporaryFolder()
  const flags = [
    '--cpu-prof',
    `--cpu-prof-dir=${folder.path}`,
    `--cpu-prof-name=${PROFILE}`,
    `--cpu-prof-interval=${INTERVAL_US}`,
  ]
  const began = performance.now()
  await using server = await startProcess(await command(flags), env)
  const run = await prepare(server)
  const used = async () => ({
    all: cpuMs(server.pid) ?? 0,
    threads: threadsMs(server.pid),
    database: (await databaseCpuMs(owner)) ?? 0,
  })
  await resetStatements(owner)
  const before = await used()
  const from = performance.now() - began
  const { count, rate } = await run()
  const to = performance.now() - began
  const after = await used()
  const statements = await statementsOf(owner, count)
  const perSecond = await rate()
  const each = (ms: number) => (ms * 1_000) / count
  const threads = new Map(
    [...after.threads].map(([thread, ms]) => [
      thread,
      each(ms - (before.threads.get(thread) ?? 0)),
    ]),
  )
  const mainThread = threads.get('main') ?? 0
  await server.stop()
  const { groups, functions, samples } = sampled(
    (await Bun.file(join(folder.path, PROFILE)).json()) as CpuProfile,
    from,
    to,
  )
  // A thread that waits for a processor is sampled too, but uses no time: never exceed what the
  // system counted.
  const sample = Math.min(INTERVAL_US / count, mainThread / Math.max(samples, 1))
  const inUs = (sums: Sums): Sums => new Map([...sums].map(([key, value]) => [key, value * sample]))
  const all = inUs(groups)
  all.set(
    'main thread outside JavaScript (event loop, HTTP parser, kernel)',
    mainThread - samples * sample,
  )
  for (const [thread, time] of threads)
    if (thread !== 'main' && time >= 0.05) all.set(`thread: ${THREADS[thread] ?? thread}`, time)
  const [cpu, database] = [each(after.all - before.all), each(after.database - before.database)]
  return {
    name,
    count,
    perSecond,
    groups: all,
    functions: inUs(functions),
    server: cpu,
    database,
    statements,
  }
}

const us = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(1))

const LONGEST_LIST = 30
const STATEMENT = { head: 110, tail: 60 }

/** Statements that begin alike often end otherwise. */
const shortened = (text: string): string =>
  text.length <= STATEMENT.head + STATEMENT.tail
    ? text
    : `${text.slice(0, STATEMENT.head)} … ${text.slice(-STATEMENT.tail)}`

const sum = (statements: Statement[], part: 'calls' | 'us'): number =>
  statements.reduce((all, one) => all + one[part], 0)

const statementLines = ({ name, statements }: Profiled): string[] => [
  `\n${name}: statements by time elapsed in Postgres, planning included\n\n| statement | a request | µs |\n|---|--:|--:|`,
  ...statements
    .slice(0, LONGEST_LIST)
    .map(
      ({ text, calls, us: time }) =>
        `| ${shortened(text).replaceAll('|', '\\|')} | ${calls.toFixed(2)} | ${us(time)} |`,
    ),
  `| **all** | ${sum(statements, 'calls').toFixed(2)} | ${us(sum(statements, 'us'))} |`,
]

const report = (kind: string, ours: Profiled, bare: Profiled): string => {
  const names = new Set(
    [...largestFirst(ours.groups), ...largestFirst(bare.groups)].map(([name]) => name),
  )
  const line = (name: string, mine: number | undefined, theirs: number | undefined) =>
    `| ${name} | ${us(mine)} | ${us(theirs)} |`
  const speeds = [ours, bare].map(
    ({ name, perSecond, count }) => `${name} ${Math.round(perSecond)}/s over ${count}`,
  )
  return [
    `\n### ${kind}: microseconds of processor time each, under the profiler\n`,
    `${speeds.join(', ')}.\n`,
    `| where (self time) | ${ours.name} | ${bare.name} |\n|---|--:|--:|`,
    ...[...names].map((name) => line(name, ours.groups.get(name), bare.groups.get(name))),
    line('**server, all threads (/proc)**', ours.server, bare.server),
    line('**Postgres, all processes (/proc)**', ours.database, bare.database),
    `\nTendril's functions by self time:\n\n| function | µs |\n|---|--:|`,
    ...largestFirst(ours.functions)
      .slice(0, LONGEST_LIST)
      .map(([name, value]) => `| ${name} | ${us(value)} |`),
    ...statementLines(ours),
    ...statementLines(bare),
  ].join('\n')
}

const tendril = (flags: string[]): string[] => [process.execPath, ...flags, 'src/main.ts']
const elysia = (flags: string[]): string[] => [
  process.execPath,
  ...flags,
  'test/bench/peer-http.ts',
]

interface Times {
  seconds: number
  /** New code is compiled in the meantime, which takes processor time. */
  warmUpSeconds: number
}

const requests = ({ seconds, warmUpSeconds }: Times, asked: string[]): [Subject, Subject] => {
  const prepare = async ({ port }: Running) => {
    const plan = { port, callers: 32, warmUpSeconds: 0, requests: asked }
    await load({ ...plan, seconds: warmUpSeconds })
    return async () => {
      const { count, perSecond } = await load({ ...plan, seconds })
      return { count, rate: () => perSecond }
    }
  }
  return [
    { name: 'Tendril', command: tendril, prepare },
    { name: 'bare Elysia', command: elysia, prepare },
  ]
}

const posts = (world: World, sizes: Sizes): [Subject, Subject] => [
  {
    name: 'Tendril',
    command: tendril,
    async prepare(server) {
      await wakeAll(world, server)
      const due = await schedule(world, server, sizes)
      await untilDue(due)
      return async () => {
        await untilSettled(() => postsLeft(world))
        return { count: due.ids.length, rate: async () => (await lateness(world, due)).perSecond! }
      }
    },
  },
  {
    name: 'DBOS',
    command: (flags) => peerCommand('dbos', flags),
    async prepare(server) {
      await prepareItems(world)
      const due = await scheduleWorkflows(world, server, sizes)
      await untilDue(due)
      return async () => {
        await untilSettled(() => workflowsLeft(world))
        return { count: due.ids.length, rate: async () => (await lateness(world, due)).perSecond! }
      }
    },
  },
]

/** Profiles reads, commands and due posts on our server and on a peer; returns Markdown. */
export async function profile(
  world: World,
  { posts: count, ...times }: Times & { posts: number },
): Promise<string> {
  const read = world.tenants.map((tenant) => get('/api/v1/growth/items?limit=5', tenant))
  const command = world.tenants.map((tenant) =>
    put('/api/v1/growth/profile', tenant, PROFILE_PATCH),
  )
  const subjects: Record<string, [Subject, Subject]> = {
    'GET 5 items, 32 callers': requests(times, read),
    'PUT profile with an Idempotency-Key, 32 callers': requests(times, command),
    'a post due': posts(world, { posts: count, tenants: world.tenants.length }),
  }
  const reports: string[] = []
  for (const [kind, [ours, bare]] of Object.entries(subjects))
    reports.push(report(kind, await profiled(world, ours), await profiled(world, bare)))
  return reports.join('\n')
}
