/**
 * Two servers on one database, killed in turn at random times while events flow to a receiver that
 * sometimes fails: every event arrives, repeated if necessary, under its own id, and in order
 * within its record. `npm run fault:webhooks -- --events 1500 --kills 200 --seed 7`
 */
import type postgres from 'postgres'
import { testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { softwareProfile } from '#test/support/growth/profiles'
import { type Story, storyAt } from '#test/support/growth/story'
import { hookOf } from '#test/support/http/hooks'
import { openReceiver, type Receiver } from '#test/support/http/receiver'
import { type Deployment, newDeployment, startServer } from '#test/support/processes/server'
import { askingThrough, persistently, wordsOf } from '../asking.ts'
import { spreadOver, startKilling } from '../killing.ts'
import { countIn, untilNoneIsLeft, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { type Clients, newClients, persist } from '../posting/clients.ts'
import {
  brokenDeliveries,
  type Heard,
  recordWritten,
  repeatsOf,
  verifies,
  type Written,
} from './verdict.ts'

export interface WebhookOptions {
  /** Approximate: a posted item makes one, a batch two. */
  events: number
  kills: number
  workspaces: number
  /** Of all workspaces together. */
  clients: number
  seed: number
}

/** A doubt about a post takes half a minute to resolve. */
const STANDSTILL_MS = 90_000
/** An event whose first attempt fails waits five seconds, and with it the rest of its record. */
const FAILING_SHARE = 0.05

interface Setup {
  stories: Story[]
  /** By workspace. */
  secrets: Map<string, string>
}

/**
 * Workspaces with an endpoint, made by an app that starts no work and owns them only while it runs.
 */
const newStories = async (
  { owner, server }: Deployment,
  { workspaces }: WebhookOptions,
  receiver: Receiver,
): Promise<Setup> => {
  const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }
  await using app = await testApp({ database: server.database!, env, overrides: { sweepMs: 0 } })
  const setup: Setup = { stories: [], secrets: new Map() }
  for (let made = 0; made < workspaces; made++) {
    const { tenantId, key } = await app.newWorkspace()
    setup.secrets.set(tenantId, await hookOf(app, tenantId).set(receiver.url))
    const { writing_dna } = softwareProfile
    await app.send('PUT', 'profile', { key, body: { writing_dna } })
    setup.stories.push(storyAt({ owner, send: app.send }, { tenantId, key, account: '' }))
  }
  await owner`update tenant set overrides =
    ${owner.json({ post_now: 1e6, create_batch: 1e6, posts: 1e6 })}`
  return setup
}

/** Keeps every request, and fails the first attempt of some. */
const listen = (receiver: Receiver, { secrets }: Setup, next: () => number): Heard[] => {
  const heard: Heard[] = []
  const tried = new Set<string>()
  receiver.answer = ({ headers, body }) => {
    const id = String(headers['webhook-id'])
    const fails = !tried.has(id) && next() < FAILING_SHARE
    tried.add(id)
    heard.push({
      headers,
      body,
      accepted: !fails,
      verified: verifies({ headers, body }, secrets.get(JSON.parse(body).workspace_id)),
    })
    if (!fails) return { status: 204 }
    return next() < 0.5 ? { status: 500 } : { raw: '' }
  }
  return heard
}

/** Requests a batch of one post until there is an answer. */
const askForBatch = (clients: Clients, { key }: Story, nth: number) =>
  persistently(clients, `batch ${nth}`, async ({ send }) => {
    const request = { key, body: { count: 1 }, headers: { 'idempotency-key': `batch ${nth}` } }
    const reply = await send('POST', 'batches', request)
    if (reply.status === 201) return { answer: reply }
    const passes = reply.status === 503 || reply.status === 429
    return passes || reply.body.error?.code === 'idempotency_in_flight'
      ? { again: wordsOf(reply) }
      : { wrong: wordsOf(reply) }
  })

const postItem = async (clients: Clients, story: Story): Promise<void> => {
  const id = await story.drafted()
  await persist(clients, { story, id, action: 'approve' })
  await persist(clients, { story, id, action: 'post-now' })
}

/** Of three events, two are a batch's. */
const EVENTS_PER_ROUND = 3

/** Events that wait, and records whose events are yet to be written. */
const leftOf = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select ((select count(*) from batch where status in ('queued', 'generating'))
      + (select count(*) from item where status in ('publishing', 'publish_unconfirmed')
        and not review)
      + (select count(*) from outbox where state = 'pending'))::int as n`)

export async function runWebhooks(options: WebhookOptions): Promise<Verdict> {
  const { seed, kills } = options
  await using world = await newDeployment()
  await using receiver = await openReceiver()
  const { owner } = world
  // The endpoints' secrets are sealed with it.
  const server = { ...world.server, secret: TEST_SECRET.toString('base64') }
  const setup = await newStories(world, options, receiver)
  await recordWritten(owner)
  const heard = listen(receiver, setup, numbers(seed + 2))
  const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port}`, LOG_LEVEL: 'silent' }
  await using killing = await startKilling({
    places: 2,
    count: kills,
    next: numbers(seed),
    start: () => startServer({ ...server, env }),
  })
  const clients = newClients(owner, askingThrough(killing, numbers(seed + 1)))
  const rounds = { count: Math.ceil(options.events / EVENTS_PER_ROUND), clients: options.clients }
  const making = spreadOver(killing, rounds, async (nth) => {
    const story = setup.stories[nth % setup.stories.length]!
    await askForBatch(clients, story, nth)
    await postItem(clients, story)
  })
  await Promise.all([making, killing.over])
  const late = await untilNoneIsLeft('events', STANDSTILL_MS, () => leftOf(owner))
  const mine = [...setup.secrets.keys()]
  // The two events of a batch have the same time: first that it is settled, then that it waits for
  // approval.
  const written = await owner<
    Written[]
  >`select id, tenant_id, subject from written where tenant_id = any(${mine}::uuid[])
    order by created_at, type <> 'growth.batch.settled', id`
  const dead = await countIn(owner`select count(*)::int as n from outbox where state = 'dead'`)
  const never: Record<string, number> = { ...brokenDeliveries(written, heard), 'given up': dead }
  const counts = {
    seed,
    kills: killing.kills(),
    events: written.length,
    requests: heard.length,
    lost: never.lost ?? 0,
    repeated: repeatsOf(heard),
    records: new Set(written.map(({ subject }) => subject)).size,
    failed: heard.filter(({ accepted }) => !accepted).length,
  }
  return verdictOn({ counts, never, broken: late, wrong: clients.wrong })
}

if (import.meta.main) {
  const defaults = { events: 1_500, kills: 200, workspaces: 8, clients: 16, seed: 1 }
  await alone('webhooks', defaults, runWebhooks)
}
