/**
 * Where a request's processor time goes: our server and a bare one under Bun's sampling profiler, with the same requests. The profiler
 * sees the thread that runs JavaScript; the rest (event loop, kernel, threads of the garbage collector and the compiler) is what the
 * system counted for the process beyond that.
 */
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { cpuMs, databaseCpuMs, threadMs } from './meter.ts'
import { PROFILE_PATCH } from './peer-sql.ts'
import { get, put } from './requests.ts'
import { load, startProcess } from './spawn.ts'
import type { World } from './world.ts'

interface Frame {
  functionName: string
  url: string
  lineNumber: number
}

interface CpuProfile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  /** Microseconds since the previous sample. */
  timeDeltas: number[]
}

/** The owner of a frame by its file; the first match counts. */
const OWNERS: [RegExp, string][] = [
  [/node_modules\/postgres\//, 'postgres.js'],
  [/node_modules\/elysia\//, 'Elysia'],
  [/node_modules\/@sinclair\//, 'TypeBox'],
  [/node_modules\/pino\//, 'pino'],
  [/node_modules\//, 'other packages'],
  [/test\/bench\//, 'the bare server itself'],
  [/\/src\/edge\//, 'ours: edge'],
  [/\/src\/ops\//, 'ours: ops (gates, letters, answers)'],
  [/\/src\/store\//, 'ours: store (wrap, gate and effect statements)'],
  [/\/src\/(domain|contract)\//, 'ours: domain'],
  [/\/src\//, 'ours: kernel and ports'],
  [/\/actors\//, 'ours: actors'],
]
/** Native functions that are grouped by name, whoever calls them. */
const NATIVE: [RegExp, string][] = [
  [/^writeBuffered$/, 'socket write to Postgres'],
  [/^(stringify|parse)$/, 'JSON'],
  [/^(update|digest|Hash|hash|createHash|timingSafeEqual|Hmac)$/, 'hashes'],
]
const ANSWER = 'Bun: promises settled, the answer written to the caller'
const TIMERS = 'timers'

const first = (rules: [RegExp, string][], text: string): string | undefined => rules.find(([rule]) => rule.test(text))?.[1]

/** The group of each node: by its own file, else by the name of a native function, else by its caller. */
const groupsOf = ({ nodes }: CpuProfile): Map<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child): [number, number] => [child, id])))
  const groupOf = (id: number): string => {
    const names: string[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { url, functionName } = byId.get(at)!.callFrame
      const owner = first(OWNERS, url)
      if (names.length === 0 || !owner) names.push(functionName)
      const native = url === '' && at === id ? first(NATIVE, functionName) : undefined
      if (native) return native
      if (owner) return owner
    }
    if (names.some((name) => /^(setTimeout|clearTimeout|setImmediate|processTimers|processImmediate)$/.test(name))) return TIMERS
    return names.includes('processTicksAndRejections') ? ANSWER : 'Bun: other'
  }
  return new Map(nodes.map(({ id }) => [id, groupOf(id)]))
}

const label = ({ functionName, url, lineNumber }: Frame): string => {
  const file = url.replace(/^.*\/(node_modules|src|actors|test)\//, '$1/')
  return file ? `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}` : functionName || '(native)'
}

interface Profiled {
  /** In microseconds a request. */
  groups: Map<string, number>
  functions: Map<string, number>
  server: number
  mainThread: number
  database: number
  perSecond: number
  count: number
}

const INTERVAL_US = 500

const tally = (profile: CpuProfile, from: number, to: number): { byNode: Map<number, number>; samples: number } => {
  const byNode = new Map<number, number>()
  let [at, samples] = [0, 0]
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index]!
    if (at < from || at > to) return
    samples++
    byNode.set(id, (byNode.get(id) ?? 0) + 1)
  })
  return { byNode, samples }
}

const added = (sums: Map<string, number>, name: string, value: number) => sums.set(name, (sums.get(name) ?? 0) + value)

interface Measured {
  script: string
  requests: string[]
  seconds: number
}

const profiled = async (world: World, { script, requests, seconds }: Measured): Promise<Profiled> => {
  await using folder = await temporaryFolder()
  const name = 'bench.cpuprofile'
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder.path}`, `--cpu-prof-name=${name}`, `--cpu-prof-interval=${INTERVAL_US}`]
  const began = performance.now()
  await using server = await startProcess([process.execPath, ...flags, script], world.env)
  const plan = { port: server.port, callers: 32, warmUpSeconds: 0, requests }
  await load({ ...plan, seconds: 2 })
  const used = async () => [cpuMs(server.pid) ?? 0, threadMs(server.pid) ?? 0, (await databaseCpuMs(world.owner)) ?? 0] as const
  const before = await used()
  const start = performance.now() - began
  const { count, perSecond } = await load({ ...plan, seconds })
  const end = performance.now() - began
  const after = await used()
  const [cpu, mainThread, database] = after.map((value, index) => ((value - before[index]!) * 1_000) / count) as [number, number, number]
  await server.stop()
  const profile = (await Bun.file(join(folder.path, name)).json()) as CpuProfile
  const { byNode, samples } = tally(profile, start * 1_000, end * 1_000)
  // A thread that waits for a processor is sampled too, but uses no time: never exceed what the system counted.
  const each = Math.min(INTERVAL_US / count, mainThread / Math.max(samples, 1))
  const [groups, functions] = [new Map<string, number>(), new Map<string, number>()]
  const groupOf = groupsOf(profile)
  for (const { id, callFrame } of profile.nodes) {
    const time = (byNode.get(id) ?? 0) * each
    if (time === 0) continue
    added(groups, groupOf.get(id)!, time)
    added(functions, `${groupOf.get(id)} — ${label(callFrame)}`, time)
  }
  const seen = samples * each
  groups.set('main thread outside JavaScript (event loop, HTTP parser, kernel)', mainThread - seen)
  groups.set('other threads (garbage collector, compiler, sampler)', cpu - mainThread)
  return { groups, functions, server: cpu, mainThread, database, perSecond, count }
}

const us = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(1))
const sorted = (sums: Map<string, number>): [string, number][] => [...sums].sort((a, b) => b[1] - a[1])

const LONGEST_LIST = 30

const report = (kind: string, ours: Profiled, bare: Profiled): string => {
  const names = new Set([...sorted(ours.groups), ...sorted(bare.groups)].map(([name]) => name))
  const line = (name: string, mine: number | undefined, theirs: number | undefined) => `| ${name} | ${us(mine)} | ${us(theirs)} |`
  return [
    `\n### ${kind}: microseconds of processor time a request, 32 callers, under the profiler\n`,
    `Tendril ${Math.round(ours.perSecond)}/s over ${ours.count} requests, bare Elysia ${Math.round(bare.perSecond)}/s over ${bare.count}.\n`,
    '| where (self time) | Tendril | bare Elysia |\n|---|---|---|',
    ...[...names].map((name) => line(name, ours.groups.get(name), bare.groups.get(name))),
    line('**server, all threads (/proc)**', ours.server, bare.server),
    line('**Postgres, all processes (/proc)**', ours.database, bare.database),
    `\nTendril's functions by self time:\n\n| function | µs |\n|---|---|`,
    ...sorted(ours.functions)
      .slice(0, LONGEST_LIST)
      .map(([name, value]) => `| ${name} | ${us(value)} |`),
  ].join('\n')
}

/** Profiles reads and commands on our server and on a bare one; returns Markdown. */
export async function profile(world: World, seconds: number): Promise<string> {
  const cases = {
    'GET items, 5': world.tenants.map((tenant) => get('/api/v1/growth/items?limit=5', tenant)),
    'PUT profile, with an Idempotency-Key': world.tenants.map((tenant) => put('/api/v1/growth/profile', tenant, PROFILE_PATCH)),
  }
  const reports: string[] = []
  for (const [kind, requests] of Object.entries(cases)) {
    const ours = await profiled(world, { script: 'src/main.ts', requests, seconds })
    const bare = await profiled(world, { script: 'test/bench/peer-http.ts', requests, seconds })
    reports.push(report(kind, ours, bare))
  }
  return reports.join('\n')
}
