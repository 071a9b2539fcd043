/**
 * SIGTERM while a server works: it answers the requests it has and settles the posts it is sending,
 * the next server finishes the drafts, and it exits cleanly and in time.
 * `npm run fault:shutdown -- --rounds 10 --rate 200 --seed 7`.
 */
import type postgres from 'postgres'
import { eventually } from '#test/support/app'
import { type Story, storyAt, textOf } from '#test/support/growth/story'
import { createFakeOpenAi, type FakeOpenAi } from '#test/support/model/fake-openai'
import { newDeployment, type ServerProcess, startServer } from '#test/support/processes/server'
import { effectsOf } from '../effects.ts'
import { newTenants, type Tenant } from '../fleet.ts'
import { countIn, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { openWire, type Wire, type WireAnswer } from './wire.ts'

export interface ShutdownOptions {
  rounds: number
  /** Requests a second. */
  rate: number
  seed: number
  /** In how many of the rounds the network does not answer, which takes ten seconds more each. */
  slow: number
}

const EXIT_WITHIN_MS = 25_000
/** Between the first request and the signal, plus a random part of as much again. */
const BEFORE_MS = 500
/** How long requests continue after the signal. */
const AFTER_MS = 300
const CONNECTIONS = 24
const TENANTS = 8
const POSTS = 4
const READ_EVERY = 4

interface Exchange {
  id: string
  sentAt: number
  answeredAt: number
  answer: WireAnswer
}

interface Traffic {
  asked: Exchange[]
  /** Sends one more request on every free connection, in this instant. */
  burst(): void
  stop(): Promise<void>
}

const ask = async (
  wire: Wire,
  tenant: Tenant,
  id: string,
  reads: 'reads' | 'writes',
): Promise<Exchange> => {
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    'content-type': 'application/json',
    'x-request-id': id,
  }
  const path = `/api/v1/growth/${reads === 'reads' ? 'overview' : 'profile'}`
  const sentAt = performance.now()
  const answer = await wire.send(
    reads === 'reads'
      ? { method: 'GET', path, headers }
      : {
          method: 'PUT',
          path,
          headers: { ...headers, 'idempotency-key': id },
          body: JSON.stringify({ goal: id }),
        },
  )
  return { id, sentAt, answeredAt: performance.now(), answer }
}

/** Sends requests at an even rate, whatever their fate, on connections that are already open. */
const startTraffic = (
  wires: Wire[],
  tenants: Tenant[],
  { rate, name }: { rate: number; name: string },
): Traffic => {
  const free = [...wires]
  const asked: Exchange[] = []
  const running = new Set<Promise<void>>()
  const startedAt = performance.now()
  let sent = 0
  const send = (wire: Wire): void => {
    const n = sent++
    const exchange = ask(
      wire,
      tenants[n % tenants.length]!,
      `${name}-${n}`,
      n % READ_EVERY === 0 ? 'reads' : 'writes',
    ).then((one) => {
      asked.push(one)
      running.delete(exchange)
      if (!wire.closed) free.push(wire)
    })
    running.add(exchange)
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * rate) / 1_000
    while (sent < due && free.length > 0) send(free.shift()!)
  }, 2)
  return {
    asked,
    burst() {
      while (free.length > 0) send(free.shift()!)
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}

interface Round {
  inFlight: number
  /** Sent before the signal, and not answered with success. */
  failed: string[]
  refusedAfter: number
  acknowledged: string[]
  exit: string | number
  exitMs: number
}

/** Sends SIGTERM amid requests and posts, and reports the fate of all of them. */
const stopAmid = async (
  server: ServerProcess,
  traffic: Traffic,
  { waitMs }: { waitMs: number },
): Promise<Round> => {
  await Bun.sleep(waitMs)
  traffic.burst()
  const signalledAt = performance.now()
  server.terminate()
  const exited = server.exited.then((exit) => ({ exit, exitMs: performance.now() - signalledAt }))
  await Bun.sleep(AFTER_MS)
  await traffic.stop()
  const before = traffic.asked.filter(({ sentAt }) => sentAt < signalledAt)
  const failed = before.filter(({ answer }) => answer.status !== 200)
  return {
    inFlight: before.filter(({ answeredAt }) => answeredAt >= signalledAt).length,
    failed: failed.map(
      ({ id, sentAt, answer }) =>
        `${id}, sent ${(signalledAt - sentAt).toFixed(1)} ms before the signal: ${answer.status} ${answer.text}`,
    ),
    refusedAfter: traffic.asked.filter(
      ({ sentAt, answer }) => sentAt >= signalledAt && answer.status !== 200,
    ).length,
    acknowledged: traffic.asked.filter(({ answer }) => answer.status === 200).map(({ id }) => id),
    ...(await exited),
  }
}

const openWires = (url: string): Promise<Wire[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => openWire(url)))

/** Rows that name a process; a server that has exited cleanly leaves none. */
const leftBehind = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select ((select count(*) from node)
    + (select count(*) from actor where owner is not null))::int as n`)

interface World {
  owner: postgres.Sql
  model: FakeOpenAi
  start(env?: Record<string, string>): Promise<ServerProcess>
  workspace: { tenantId: string; account: string; key: string }
  tenants: Tenant[]
}

interface Work {
  /** Items that are being posted at the signal, by id. */
  items: string[]
  answers: Promise<number[]>
  batch: string
}

/** Posts in flight, and a generation at the model. */
const startWork = async (story: Story, model: FakeOpenAi): Promise<Work> => {
  const items = await Promise.all(Array.from({ length: POSTS }, () => story.approved()))
  model.script('hang')
  const arrived = model.arrived()
  const { body } = await story.send('POST', 'batches', { body: { count: 1 } })
  await arrived
  const post = (id: string) =>
    story.send('POST', `items/${id}/post-now`).then(
      ({ status }) => status,
      () => 0,
    )
  return {
    items,
    batch: body.batch.id,
    answers: Bun.sleep(BEFORE_MS / 2).then(() => Promise.all(items.map(post))),
  }
}

/** Checks how the next server finishes the work: each post exactly once, the batch ready. */
const finishWork = async (story: Story, { items, batch }: Work): Promise<string[]> => {
  const posts = await eventually(story.posts, (all) =>
    items.every((id) => (all[textOf(id)] ?? 0) > 0),
  )
  const wrong = items
    .filter((id) => posts[textOf(id)] !== 1)
    .map((id) => `item ${id} was posted ${posts[textOf(id)] ?? 0} times`)
  const state = async () => (await story.send('GET', `batches/${batch}`)).body.batch.status
  const last = await eventually(state, (status) => status === 'ready')
  return last === 'ready' ? wrong : [...wrong, `the generation is ${last}`]
}

const oneRound = async (
  world: World,
  {
    name,
    waitMs,
    rate,
    env,
  }: { name: string; waitMs: number; rate: number; env: Record<string, string> },
) => {
  const { owner, model, workspace } = world
  await using server = await world.start(env)
  const wires = await openWires(server.url)
  const story = storyAt({ owner, send: server.send }, workspace)
  const work = await startWork(story, model)
  const round = await stopAmid(server, startTraffic(wires, world.tenants, { rate, name }), {
    waitMs,
  })
  const broken = round.failed.map((line) => `a request in flight failed: ${line}`)
  if (round.exit !== 0 || round.exitMs > EXIT_WITHIN_MS)
    broken.push(`exit ${round.exit} after ${round.exitMs} ms:\n${server.output()}`)
  const left = await leftBehind(owner)
  if (left > 0) broken.push(`${left} rows still name a process that has ended`)
  const answers = await work.answers
  for (const status of answers)
    if (status !== 200 && status !== 202) broken.push(`post-now answered ${status}`)
  await using next = await world.start()
  broken.push(...(await finishWork(story.at({ owner, send: next.send }), work)))
  for (const wire of wires) wire[Symbol.dispose]()
  const { lost, doubled } = await effectsOf(
    owner,
    round.acknowledged.filter((id) => Number(id.split('-').at(-1)) % READ_EVERY !== 0),
  )
  return { round, broken, lost, doubled }
}

export async function runShutdown({ rounds, rate, seed, slow }: ShutdownOptions): Promise<Verdict> {
  await using model = await createFakeOpenAi()
  await using deployment = await newDeployment()
  const { owner, server } = deployment
  const openai = { OPENAI_API_KEY: 'sk-fault', OPENAI_BASE_URL: model.url }
  const start = (env = {}) => startServer({ ...server, env: { ...openai, ...env } })
  await (await start())[Symbol.asyncDispose]()
  const world: World = {
    owner,
    model,
    start,
    workspace: await deployment.firstWorkspace(),
    tenants: await newTenants(server.database!, TENANTS),
  }
  const next = numbers(seed)
  const done: Awaited<ReturnType<typeof oneRound>>[] = []
  for (let n = 0; n < rounds; n++) {
    const env: Record<string, string> = n < slow ? { SANDBOX_FAULTS: 'slow=1;seed=1' } : {}
    done.push(
      await oneRound(world, { name: `s${seed}-${n}`, waitMs: BEFORE_MS * (1 + next()), rate, env }),
    )
  }
  const sum = (of: (one: (typeof done)[number]) => number): number =>
    done.reduce((total, one) => total + of(one), 0)
  const never = {
    failed_in_flight: sum(({ round }) => round.failed.length),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
  }
  const counts = {
    seed,
    rounds,
    slow,
    rate,
    ...never,
    acknowledged: sum(({ round }) => round.acknowledged.length),
    in_flight: sum(({ round }) => round.inFlight),
    refused_after: sum(({ round }) => round.refusedAfter),
    worst_exit_ms: Math.round(Math.max(...done.map(({ round }) => round.exitMs))),
  }
  return verdictOn({ counts, never, broken: done.flatMap(({ broken }) => broken) })
}

if (import.meta.main)
  await alone('shutdown', { rounds: 4, rate: 200, seed: 1, slow: 1 }, runShutdown)
