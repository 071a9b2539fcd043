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
import { type Asking, newAsking, persistently, wordsOf } from '../asking.ts'
import type { Tenant } from '../fleet.ts'
import { connectedTenants, othersPosts, type Wish, wishesOf } from '../generation-wishes.ts'
import { brokenRules, settlementOf, unsettled } from '../generations.ts'
import { untilNoneIsLeft, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
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
  asking: Asking
  /** Problems found during the run. */
  broken: string[]
}

/** Asks with the same key until a server admits the generation. */
const admitted = async (
  { asking }: Run,
  { key }: Tenant,
  { id, kind, body }: Wish & { id: string },
): Promise<number> => {
  const came = await persistently(asking, `${kind.name} ${id}`, async ({ send }) => {
    const reply = await send('POST', kind.name, { key, body, headers: { 'idempotency-key': id } })
    if (reply.status === 201) return { answer: 1 }
    const passes = reply.status === 503 || reply.body.error?.code === 'idempotency_in_flight'
    return passes ? { again: wordsOf(reply) } : { wrong: wordsOf(reply) }
  })
  return came ?? 0
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

/** How many generations the workspace at this place requests. */
const shareOf = ({ generations, tenants }: ModelOptions, place: number): number =>
  Math.floor(generations / tenants) + (place < generations % tenants ? 1 : 0)

export async function runModel(options: ModelOptions): Promise<Verdict> {
  await using stack = new AsyncDisposableStack()
  const { owner, server } = stack.use(await newDeployment())
  const provider = stack.use(await startBadProvider(numbers(options.seed), options.silentMs))
  const each: ServerOptions = {
    ...server,
    env: { OPENAI_API_KEY: SECRET, OPENAI_BASE_URL: provider.fake.url },
  }
  const servers: Server[] = []
  const asking = newAsking({
    servers: () => servers.map(({ process }) => process),
    next: numbers(options.seed + 2),
    isOverdue: (began) => performance.now() - began > GIVE_UP_MS,
  })
  const run: Run = { options, servers, next: numbers(options.seed + 1), asking, broken: [] }
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
  run.broken.push(...(await untilNoneIsLeft('generations', STANDSTILL_MS, () => unsettled(owner))))
  const ended = await restarting.stop()
  for (const one of run.servers) checkOutput(run, one)
  const { seed } = options
  return verdictOn({
    counts: {
      seed,
      asked,
      ...(await settlementOf(owner)),
      calls: provider.fake.calls.length,
      behaviours: provider.shown.size,
      ...ended,
    },
    never: await brokenRules(owner, { secret: SECRET, asked }),
    broken: run.broken,
    wrong: asking.wrong,
  })
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
  await alone('model', defaults, runModel)
}
