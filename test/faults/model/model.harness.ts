/**
 * Generations of every kind with a model provider that fails in every way it can, while servers are
 * killed, stopped and restarted. `npm run fault:model -- --generations 1000 --tenants 50 --seed 7`;
 * with `--silentMs 90000`, connections on which nothing arrives stay open until the time limit of a
 * model call.
 */
import {
  newDeployment,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import type { Tenant } from '../fleet.ts'
import { connectedTenants, othersPosts, type Wish, wishesOf } from '../generation-wishes.ts'
import { brokenRules, settlementOf, unsettled } from '../generations.ts'
import { numbers } from '../numbers.ts'
import { alone, type Finished, optionsFrom } from '../own-database.ts'
import { startBadProvider } from '../provider.ts'

export interface ModelOptions {
  generations: number
  tenants: number
  servers: number
  seed: number
  /** Between two restarts. */
  restartMs: number
  /** How long a silent connection of the provider stays open. */
  silentMs: number
}

const SECRET = 'sk-fault-0815-do-not-tell'
const RETRY_MS = 50
const GIVE_UP_MS = 60_000
/** Without a settlement for this long, nothing more will settle. */
const STANDSTILL_MS = 60_000

interface Server {
  process: ServerProcess
}

interface Run {
  options: ModelOptions
  servers: Server[]
  next: () => number
  /** Problems found during the run. */
  broken: string[]
}

/** Tries the servers in turn, with the same key, until one admits the generation. */
const admitted = async (
  { servers, broken }: Run,
  { key }: Tenant,
  { id, kind, body }: Wish & { id: string },
): Promise<number> => {
  const until = performance.now() + GIVE_UP_MS
  for (let tries = 0; performance.now() < until; tries++) {
    const { process } = servers[tries % servers.length]!
    const send = { key, body, headers: { 'idempotency-key': id } }
    const reply = await process.send('POST', kind.name, send).catch(() => undefined)
    if (reply?.status === 201) return 1
    if (reply && reply.status !== 503 && reply.body.error?.code !== 'idempotency_in_flight') {
      broken.push(`${kind.name} ${id}: ${reply.status} ${reply.text.slice(0, 200)}`)
      return 0
    }
    await Bun.sleep(RETRY_MS)
  }
  broken.push(`${kind.name} ${id}: not admitted in ${GIVE_UP_MS} ms`)
  return 0
}

/** Requests the generations of a workspace, one after the other. */
const askAll = async (run: Run, tenant: Tenant, wishes: Wish[]): Promise<number> => {
  let asked = 0
  for (const [index, wish] of wishes.entries())
    asked += await admitted(run, tenant, { id: `${tenant.id}-${index}`, ...wish })
  return asked
}

const checkOutput = ({ broken }: Run, { process }: Server): void => {
  if (process.output().includes(SECRET)) broken.push('a server printed the key of the provider')
}

/** Restarts the servers in turn, after kill -9 or SIGTERM at random, until stopped. */
const restarts = (run: Run, options: ServerOptions) => {
  const ended = { kills: 0, stops: 0 }
  let stopping = false
  const running = (async () => {
    while (!stopping) {
      await Bun.sleep(run.options.restartMs)
      if (stopping) return
      const server = run.servers[Math.floor(run.next() * run.servers.length)]!
      const kind = run.next() < 0.5 ? 'kills' : 'stops'
      ended[kind]++
      if (kind === 'kills') await server.process.kill()
      else server.process.terminate()
      const code = await server.process.exited
      if (kind === 'stops' && code !== 0)
        run.broken.push(`a server that got SIGTERM exited with ${code}`)
      checkOutput(run, server)
      server.process = await startServer(options)
    }
  })()
  const stop = async () => {
    stopping = true
    await running
    return ended
  }
  return { stop }
}

/** Waits until every generation is over, or none has ended for a long time. */
const allOver = async (ask: () => Promise<number>): Promise<void> => {
  let [left, since] = [await ask(), performance.now()]
  while (left > 0 && performance.now() - since < STANDSTILL_MS) {
    await Bun.sleep(100)
    const now = await ask()
    if (now < left) [left, since] = [now, performance.now()]
  }
}

/** How many generations the workspace at this place requests. */
const shareOf = ({ generations, tenants }: ModelOptions, place: number): number =>
  Math.floor(generations / tenants) + (place < generations % tenants ? 1 : 0)

export async function runModel(options: ModelOptions): Promise<Finished> {
  await using stack = new AsyncDisposableStack()
  const { owner, server } = stack.use(await newDeployment())
  const provider = stack.use(await startBadProvider(numbers(options.seed), options.silentMs))
  const each: ServerOptions = {
    ...server,
    env: { OPENAI_API_KEY: SECRET, OPENAI_BASE_URL: provider.fake.url },
  }
  const run: Run = { options, servers: [], next: numbers(options.seed + 1), broken: [] }
  stack.defer(
    async () => void (await Promise.all(run.servers.map(({ process }) => process.kill()))),
  )
  for (let made = 0; made < options.servers; made++)
    run.servers.push({ process: await startServer(each) })
  const tenants = await connectedTenants(owner, server.database, options.tenants)
  const posts = await othersPosts(owner, shareOf(options, 0))
  const wishes = tenants.map((tenant, place) =>
    wishesOf({ tenant, place, count: shareOf(options, place) }, posts, run.next),
  )
  const restarting = restarts(run, each)
  const asked = (
    await Promise.all(tenants.map((tenant, index) => askAll(run, tenant, wishes[index]!)))
  ).reduce((sum, n) => sum + n, 0)
  await allOver(() => unsettled(owner))
  const ended = await restarting.stop()
  for (const one of run.servers) checkOutput(run, one)
  for (const [rule, times] of Object.entries(await brokenRules(owner, { secret: SECRET, asked }))) {
    if (times > 0) run.broken.push(`${rule}: ${times}`)
  }
  const { seed } = options
  const calls = provider.fake.calls.length
  return {
    counts: {
      seed,
      asked,
      ...(await settlementOf(owner)),
      calls,
      behaviours: provider.shown.size,
      ...ended,
    },
    broken: run.broken,
  }
}

if (import.meta.main) {
  const defaults = {
    generations: 1_000,
    tenants: 50,
    servers: 2,
    seed: 1,
    restartMs: 400,
    silentMs: 1_500,
  }
  await alone('model', () => runModel(optionsFrom(defaults, process.argv.slice(2))))
}
