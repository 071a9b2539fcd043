/**
 * Healthy posts, replies and deliveries, all due, while two servers are killed in turn and their
 * database is away for a minute: no row ends by what was not its fault. What was on the wire when
 * something broke can be in doubt; all else goes out, once. `npm run fault:healthy -- --rows 500
 * --kills 20 --outage 60 --seed 7`
 */
import type postgres from 'postgres'
import { testApp } from '#test/support/app'
import { type DevChannel, devChannel } from '#test/support/channels/dev-posts'
import { reply } from '#test/support/channels/replies'
import { TEST_SECRET } from '#test/support/database/db'
import { type DatabaseProxy, startProxy } from '#test/support/database/proxy'
import { type Story, storyAt } from '#test/support/growth/story'
import { eventOf, type Hook, hookOf } from '#test/support/http/hooks'
import { openReceiver, type Receiver } from '#test/support/http/receiver'
import {
  type Deployment,
  newDeployment,
  type ServerOptions,
  startServer,
} from '#test/support/processes/server'
import { startProvider } from '../channels/provider.ts'
import { type Killing, type Mortal, startKilling } from '../killing.ts'
import { countIn, untilNoneIsLeft, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { type Heard, recordWritten, verifies } from '../webhooks/verdict.ts'
import { verdictOf } from './verdict.ts'

export interface HealthyOptions {
  /** Of each: posts, replies, events. A post that has gone out is one event more. */
  rows: number
  kills: number
  /** Seconds without a database, after half of the kills. */
  outage: number
  workspaces: number
  seed: number
}

/** Requests to the provider and to the receiver last so long that rows are due at each kill. */
const LASTS_MS = 250
const FAR_MS = 86_400_000
const STANDSTILL_MS = 120_000
/** Of two processes, each is killed once when the servers change places between the two halves. */
const PLACES = 2

interface Place {
  story: Story
  hook: Hook
  channel: DevChannel
}

/** Copies each failure that is counted in a row of work. */
const recordFailures = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table counted (work_id uuid not null, failures integer not null)`
  await owner.unsafe(`create function count_down() returns trigger language plpgsql security definer as $$ begin
    insert into public.counted values (new.id, new.failures); return null; end $$`)
  await owner`create trigger count_down after update on work for each row
    when (new.failures > old.failures) execute function count_down()`
}

type Env = Record<string, string>

/**
 * Workspaces with an account, an endpoint and a channel, made by an app that owns them only while
 * it runs.
 */
const newPlaces = async (
  { owner, server }: Deployment,
  { workspaces }: HealthyOptions,
  { env, hooks, channels }: { env: Env; hooks: string; channels: string },
): Promise<{ places: Place[]; secrets: Map<string, string> }> => {
  await using app = await testApp({ database: server.database!, env, overrides: { sweepMs: 0 } })
  const [places, secrets]: [Place[], Map<string, string>] = [[], new Map()]
  while (places.length < workspaces) {
    const { tenantId, key } = await app.newWorkspace()
    const hook = hookOf(app, tenantId)
    secrets.set(tenantId, await hook.set(hooks))
    const channel = await devChannel(app, { config: { url: channels } }, tenantId)
    places.push({ story: storyAt(app, { tenantId, key, account: '' }), hook, channel })
  }
  await owner`update tenant set overrides = ${owner.json({ post_now: 1e6, posts: 1e6 })}`
  return { places, secrets }
}

/** Adds the rows by an app that has no lanes, so that all are due when the servers start. */
const addRows = async (
  world: Deployment,
  { rows }: HealthyOptions,
  env: Env,
  places: readonly Place[],
): Promise<void> => {
  await using app = await testApp({
    database: world.server.database!,
    env,
    overrides: { sweepMs: 0, lanes: [] },
  })
  const addOne = async (nth: number): Promise<void> => {
    const { story, hook, channel } = places[nth % places.length]!
    await story.at(app).scheduled(FAR_MS)
    await hook.at(app).emit(eventOf(`record ${nth}`))
    await reply(app, { tenantId: story.tenantId, connection: channel.id, text: `Reply ${nth}` })
  }
  for (let nth = 0; nth < rows; nth += places.length)
    await Promise.all(places.slice(0, rows - nth).map((_, at) => addOne(nth + at)))
}

/**
 * Posts are due from now on, one after the other until the last of the interruptions: they take
 * little time.
 */
const makeDue = async (
  owner: postgres.Sql,
  { kills, outage, rows }: HealthyOptions,
): Promise<void> => {
  const withinS = outage + kills
  await owner`with dated as (select id, now() + row_number() over (order by id) *
    ${withinS / rows}::float8 * interval '1 second' as at from item),
      items as (update item i set post_at = d.at from dated d where d.id = i.id)
    update work w set run_at = d.at from dated d where w.ref_id = d.id`
  await owner`update actor set wake_at = now()`
}

const leftOf = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select ((select count(*) from item where status in ('approved', 'publishing'))
      + (select count(*) from item where status = 'publish_unconfirmed' and not review)
      + (select count(*) from channel_reply where status in ('queued', 'sending'))
      + (select count(*) from outbox where state = 'pending'))::int as n`)

interface Breaking {
  server: ServerOptions
  database: DatabaseProxy
  interruptions: number[]
}

const startKillable =
  ({ server, interruptions }: Breaking) =>
  async (): Promise<Mortal> => {
    const process = await startServer(server)
    return {
      async kill() {
        interruptions.push(Date.now())
        await process.kill()
      },
    }
  }

/**
 * Half of the kills, then the outage under servers that live, then the other half. Gives the
 * servers that run in the end.
 */
const breakAll = async (
  { kills, outage, seed }: HealthyOptions,
  breaking: Breaking,
): Promise<Killing<Mortal>> => {
  const { database, interruptions } = breaking
  const first = Math.ceil((kills - PLACES) / 2)
  const start = startKillable(breaking)
  {
    await using killing = await startKilling({
      places: PLACES,
      count: first,
      next: numbers(seed),
      start,
    })
    await killing.over
    interruptions.push(Date.now())
    await database.refuse()
    await Bun.sleep(outage * 1_000)
    await database.open()
    interruptions.push(Date.now())
  }
  const killing = await startKilling({
    places: PLACES,
    count: kills - PLACES - first,
    next: numbers(seed + 1),
    start,
  })
  await killing.over
  return killing
}

const listen = (receiver: Receiver, secrets: Map<string, string>): Heard[] => {
  const heard: Heard[] = []
  receiver.answer = async ({ headers, body }) => {
    heard.push({
      headers,
      body,
      accepted: true,
      verified: verifies({ headers, body }, secrets.get(JSON.parse(body).workspace_id)),
    })
    await Bun.sleep(LASTS_MS)
    return { status: 204 }
  }
  return heard
}

export async function runHealthy(options: HealthyOptions): Promise<Verdict> {
  const { rows, kills, outage, seed } = options
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await newDeployment())
  const [receiver, provider] = [
    stack.use(await openReceiver()),
    stack.use(startProvider(() => 1, LASTS_MS)),
  ]
  const database = stack.use(await startProxy({ ...world.server.database }))
  const { owner } = world
  const env = {
    EGRESS_ALLOW: `127.0.0.1:${receiver.port},127.0.0.1:${provider.port}`,
    LOG_LEVEL: 'silent',
  }
  const { places, secrets } = await newPlaces(world, options, {
    env,
    hooks: receiver.url,
    channels: provider.url,
  })
  await recordWritten(owner)
  await recordFailures(owner)
  const heard = listen(receiver, secrets)
  await addRows(world, options, env, places)
  await makeDue(owner, options)
  // The secrets of endpoints and channels are sealed with it.
  const server = {
    ...world.server,
    secret: TEST_SECRET.toString('base64'),
    database: database.options,
    env,
  }
  const interruptions: number[] = []
  stack.use(await breakAll(options, { server, database, interruptions }))
  const open = await leftOf(owner)
  const late = await untilNoneIsLeft('rows', STANDSTILL_MS, () => leftOf(owner))
  const seen = { owner, taken: provider.taken, heard, interruptions }
  const { counts, never } = await verdictOf(seen)
  const broken =
    counts.posts === rows && counts.replies === rows
      ? late
      : [...late, `of ${rows} posts and replies ${counts.posts} and ${counts.replies} are there`]
  const head = { seed, kills, outage_s: outage, open_after_the_last_kill: open }
  return verdictOn({ counts: { ...head, ...counts }, never, broken })
}

if (import.meta.main) {
  const defaults = { rows: 500, kills: 20, outage: 60, workspaces: 10, seed: 1 }
  await alone('healthy', defaults, runHealthy)
}
