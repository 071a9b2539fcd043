/**
 * Thousands of connections that start requests and do not finish them: held bodies to letters,
 * sign-in, OAuth, MCP and commands, and headers that arrive a line a second; from 64 addresses,
 * then through one proxy that names its clients. The server stays within its memory, answers health
 * at once, and serves the keys of another workspace. `npm run fault:flood -- --bodies 3000
 * --headers 3000 --rate 200 --seconds 80 --seed 7`. It takes two open files for each connection;
 * this process, the attackers and the server each have one limit of their own (`ulimit -Hn`, which
 * Bun uses in full).
 */
import { eventually } from '#test/support/eventually'
import { newDeployment, type ServerProcess, startServer } from '#test/support/processes/server'
import { newTenants, type Tenant } from '../fleet.ts'
import type { Counts, Verdict } from '../ledger.ts'
import { alone } from '../own-database.ts'
import { residentOf } from '../resident.ts'
import type { Attack, Attacked } from './attacker.ts'

export interface FloodOptions {
  bodies: number
  headers: number
  addresses: number
  /** Connections of each kind opened a second. */
  rate: number
  seconds: number
  seed: number
  /** The longest that health may take, in milliseconds; 0 does not judge it. */
  health: number
}

const MIB = 1_048_576
/** Sampled resident memory must stay below this. */
const MOST_MIB = 512
/** Freed memory that the runtime may keep. */
const KEPT_MIB = 128
const BACK_WITHIN_MS = 60_000
const SAMPLE_MS = 200
const HEALTH_MS = 100
const REQUEST_MS = 250
/**
 * How many bodies of one workspace, and of strangers, may be unanswered: those with room, and as
 * many that wait for it.
 */
const MOST_KEYED = (2 * 32 * MIB) / MIB
const MOST_STRANGERS = (2 * 16 * MIB) / 16_384

interface Observed {
  peakMib: number
  healthChecks: number
  worstHealthMs: number
  healthFailed: number
  keyedOk: number
  keyedFailed: string[]
}

/** Repeats something until it is stopped; returns the function that stops it. */
const every = (ms: number, run: () => Promise<void> | void): (() => Promise<void>) => {
  let going = true
  const loop = (async () => {
    while (going) {
      await run()
      await Bun.sleep(ms)
    }
  })()
  return () => {
    going = false
    return loop
  }
}

/** Observes a server during a flood, as an operator and as an ordinary client. */
const watch = (server: ServerProcess, tenant: Tenant): (() => Promise<Observed>) => {
  const seen: Observed = {
    peakMib: 0,
    healthChecks: 0,
    worstHealthMs: 0,
    healthFailed: 0,
    keyedOk: 0,
    keyedFailed: [],
  }
  const ends = [
    every(SAMPLE_MS, () => {
      seen.peakMib = Math.max(seen.peakMib, residentOf(server.pid))
    }),
    every(HEALTH_MS, async () => {
      const startedAt = performance.now()
      const response = await fetch(`${server.url}/health`, {
        headers: { connection: 'close' },
      }).catch(() => undefined)
      seen.healthChecks++
      if (response?.status !== 200) seen.healthFailed++
      seen.worstHealthMs = Math.max(seen.worstHealthMs, performance.now() - startedAt)
    }),
    every(REQUEST_MS, async () => {
      const options = { key: tenant.key, body: { goal: `goal ${seen.keyedOk}` } }
      for (const [method, path, send] of [
        ['PUT', 'profile', options],
        ['GET', 'overview', { key: tenant.key }],
      ] as const) {
        const reply = await server
          .send(method, path, send)
          .catch((cause) => ({ status: 0, text: String(cause) }))
        if (reply.status === 200) seen.keyedOk++
        else seen.keyedFailed.push(`${method} ${path}: ${reply.status} ${reply.text}`)
      }
    }),
  ]
  return async () => {
    await Promise.all(ends.map((end) => end()))
    return seen
  }
}

const attackBy = async (attack: Attack): Promise<Attacked> => {
  const child = Bun.spawn(
    [process.execPath, '--no-orphans', `${import.meta.dir}/attacker.ts`, JSON.stringify(attack)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  return JSON.parse(await new Response(child.stdout).text()) as Attacked
}

/** The answers that a connection which never finishes its request may get, by its target. */
const EXPECTED: Record<string, string[]> = {
  letters: ['404', '429', 'closed'],
  session: ['unanswered', '408', '429', '503'],
  session_large: ['413', '429'],
  device: ['unanswered', '408', '429', '503'],
  mcp: ['unanswered', '408', '503', '429'],
  keyed: ['unanswered', '408', '503', '429'],
  unknown_key: ['401', '429'],
}

const sum = (
  answers: Record<string, number>,
  of: (aim: string, answer: string) => boolean,
): number =>
  Object.entries(answers).reduce(
    (total, [name, count]) => total + (of(...(name.split(' ') as [string, string])) ? count : 0),
    0,
  )

const brokenIn = (name: string, { attacked, seen, before, after, options }: Round): string[] => {
  const { answers, unmade } = attacked
  const broken = Object.keys(answers).filter(
    (one) => !EXPECTED[one.split(' ')[0]!]!.includes(one.split(' ')[1]!),
  )
  const held = (aims: string[]) =>
    sum(answers, (aim, answer) => aims.includes(aim) && answer === 'unanswered')
  const judged: [boolean, string][] = [
    [unmade > 0, `${unmade} connections could not be made: raise ulimit -n`],
    [
      broken.length > 0,
      `unexpected answers: ${broken.map((one) => `${one} × ${answers[one]}`).join(', ')}`,
    ],
    [
      held(['mcp', 'keyed']) > MOST_KEYED,
      `${held(['mcp', 'keyed'])} bodies of one workspace are held`,
    ],
    [
      held(['session', 'device']) > MOST_STRANGERS,
      `${held(['session', 'device'])} bodies of strangers are held`,
    ],
    [seen.peakMib >= MOST_MIB, `${Math.round(seen.peakMib)} MiB resident`],
    [
      after > before + KEPT_MIB,
      `${Math.round(after)} MiB resident afterwards, ${Math.round(before)} before`,
    ],
    [seen.healthFailed > 0, `${seen.healthFailed} of ${seen.healthChecks} health checks failed`],
    [
      options.health > 0 && seen.worstHealthMs > options.health,
      `health took ${Math.round(seen.worstHealthMs)} ms`,
    ],
    [seen.keyedOk === 0, 'no request of another workspace was served'],
    ...seen.keyedFailed
      .slice(0, 5)
      .map((one): [boolean, string] => [true, `a request of another workspace failed: ${one}`]),
  ]
  return judged.flatMap(([wrong, says]) => (wrong ? [`${name}: ${says}`] : []))
}

interface Round {
  attacked: Attacked
  seen: Observed
  before: number
  after: number
  options: FloodOptions
}

interface World {
  server: ServerProcess
  attacker: Tenant
  other: Tenant
}

const round = async (
  { server, attacker, other }: World,
  options: FloodOptions,
  proxied: boolean,
): Promise<Round> => {
  for (const { key } of [attacker, other]) await server.send('GET', 'overview', { key })
  const before = residentOf(server.pid)
  const end = watch(server, other)
  const { health: _, ...attack } = options
  const attacked = await attackBy({ ...attack, url: server.url, proxied, key: attacker.key })
  const seen = await end()
  const near = (mib: number) => mib <= before + KEPT_MIB
  const after = await eventually(() => residentOf(server.pid), near, BACK_WITHIN_MS)
  return { attacked, seen, before, after, options }
}

const countsOf = (
  name: string,
  { attacked: { answers, headersClosed }, seen, before, after }: Round,
): Counts => {
  const answered = Object.groupBy(Object.keys(answers), (one) => one.split(' ')[1]!)
  const byAnswer = Object.entries(answered)
    .sort()
    .map(([answer, names]) => [
      `${name}_${answer}`,
      names!.reduce((total, one) => total + answers[one]!, 0),
    ])
  return {
    ...Object.fromEntries(byAnswer),
    [`${name}_headers_closed`]: headersClosed,
    [`${name}_mib`]: `${Math.round(before)}/${Math.round(seen.peakMib)}/${Math.round(after)}`,
    [`${name}_health`]: seen.healthChecks,
    [`${name}_health_worst_ms`]: Math.round(seen.worstHealthMs),
    [`${name}_others_served`]: seen.keyedOk,
  }
}

export async function runFlood(options: FloodOptions): Promise<Verdict> {
  const { bodies, headers, addresses, rate, seconds, seed } = options
  await using deployment = await newDeployment()
  const counts: Counts = { seed, bodies, headers, addresses, rate, seconds }
  const broken: string[] = []
  for (const [name, proxies] of [
    ['direct', ''],
    ['proxied', '127.0.0.1'],
  ] as const) {
    await using server = await startServer({
      ...deployment.server,
      env: { TRUSTED_PROXIES: proxies },
    })
    const [attacker, other] = await newTenants(deployment.server.database!, 2)
    const one = await round({ server, attacker: attacker!, other: other! }, options, proxies !== '')
    Object.assign(counts, countsOf(name, one))
    broken.push(...brokenIn(name, one))
  }
  return { counts, broken }
}

if (import.meta.main) {
  const defaults = {
    bodies: 3_000,
    headers: 3_000,
    addresses: 64,
    rate: 200,
    seconds: 80,
    seed: 1,
    health: 250,
  }
  await alone('flood', defaults, runFlood)
}
