/**
 * Two servers on one database, killed in turn at random times while a provider delivers what people
 * write, twice or until it is taken, and is asked to send the answers: one job and one reply an
 * event, and no message sent twice. `npm run fault:channels -- --events 1000 --kills 100 --seed 7`;
 * with `--naive`, servers that send again what they do not know to have been sent stand in, and
 * must be found out.
 */
import type postgres from 'postgres'
import { testApp } from '#test/support/app'
import { type DevChannel, devChannel, linked } from '#test/support/channels/dev-posts'
import { TEST_SECRET } from '#test/support/database/db'
import { createFakeOpenAi, type FakeOpenAi } from '#test/support/model/fake-openai'
import { type Deployment, newDeployment, startServer } from '#test/support/processes/server'
import { type Killing, type Mortal, startKilling } from '../killing.ts'
import { numbers } from '../numbers.ts'
import { alone, type Finished, optionsFrom } from '../own-database.ts'
import { type Delivering, type Provider, startProvider, type Written, write } from './provider.ts'
import { verdictOf } from './verdict.ts'

export interface ChannelOptions {
  events: number
  kills: number
  workspaces: number
  /** Machines of the provider. */
  machines: number
  seed: number
  naive: boolean
}

/** Of each channel, linked to its owner: strangers could begin only a few jobs a day. */
const SENDERS = 20
const STANDSTILL_MS = 120_000
const POLL_MS = 200

/** Workspaces with a channel each, made by an app that owns them only while it runs. */
const newChannels = async (
  { server, owner }: Deployment,
  { workspaces }: ChannelOptions,
  { port, url }: Provider,
): Promise<DevChannel[]> => {
  await using app = await testApp({
    database: server.database!,
    env: { EGRESS_ALLOW: `127.0.0.1:${port}` },
    overrides: { sweepMs: 0 },
  })
  const channels: DevChannel[] = []
  for (let made = 0; made < workspaces; made++) {
    const { tenantId } = await app.newWorkspace()
    const channel = await devChannel(app, { config: { url } }, tenantId)
    for (let sender = 0; sender < SENDERS; sender++) await linked(app, channel, `sender-${sender}`)
    channels.push(channel)
  }
  await owner`update tenant set overrides = overrides ||
    '{"agent_tokens_day": -1, "agent_tokens_month": -1, "agent_cost_month": -1,
    "agent_calls_hour": -1, "agent_requests": -1}'`
  return channels
}

/** Answers each message by name. */
const startModel = async (): Promise<FakeOpenAi> => {
  const fake = await createFakeOpenAi()
  fake.converseOtherwise(({ messages }) => ({
    text: `Answer to ${messages.findLast(({ role }) => role === 'user')?.content}`,
  }))
  return fake
}

const eventOf = (nth: number, channels: readonly DevChannel[]): Written => ({
  channel: channels[nth % channels.length]!,
  sender: `sender-${Math.floor(nth / channels.length) % SENDERS}`,
  id: `event-${nth}`,
  text: `Message ${nth} of somebody`,
})

/** Spreads the events over the kills: each comes when its share of the kills has happened. */
const writeAll = async (
  { events, kills, machines }: ChannelOptions,
  {
    killing,
    delivering,
    channels,
  }: { killing: Killing<Mortal>; delivering: Delivering; channels: readonly DevChannel[] },
): Promise<string[]> => {
  const texts: string[] = []
  const machine = async (): Promise<void> => {
    while (texts.length < events) {
      if (texts.length * kills > (killing.kills() + 1) * events) {
        await Bun.sleep(20)
        continue
      }
      const event = eventOf(texts.length, channels)
      texts.push(event.text)
      await write(delivering, event)
    }
  }
  await Promise.all(Array.from({ length: machines }, machine))
  return texts
}

const leftOf = async (owner: postgres.Sql): Promise<number> =>
  (
    await owner<{ n: number }[]>`select ((select count(*) from agent_job where ended_at is null)
      + (select count(*) from channel_reply where status in ('queued', 'sending')))::int as n`
  )[0]!.n

/** Waits until every job and reply is over, or none has ended for a long time. */
const untilOver = async (owner: postgres.Sql): Promise<string[]> => {
  let [left, since] = [await leftOf(owner), performance.now()]
  while (left > 0) {
    if (performance.now() - since > STANDSTILL_MS)
      return [`${left} jobs and replies are open, and none ended for ${STANDSTILL_MS} ms`]
    await Bun.sleep(POLL_MS)
    const now = await leftOf(owner)
    if (now < left) since = performance.now()
    left = now
  }
  return []
}

export async function runChannels(options: ChannelOptions): Promise<Finished> {
  const { seed, kills, naive } = options
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await newDeployment())
  const provider = stack.use(startProvider(numbers(seed + 2)))
  const fake = stack.use(await startModel())
  const { owner } = world
  // The credentials of channels are sealed with it.
  const server = { ...world.server, secret: TEST_SECRET.toString('base64') }
  const channels = await newChannels(world, options, provider)
  const env = {
    OPENAI_BASE_URL: fake.url,
    OPENAI_API_KEY: 'none',
    EGRESS_ALLOW: `127.0.0.1:${provider.port}`,
    LOG_LEVEL: 'silent',
  }
  const program = naive ? { program: 'test/faults/channels/server.ts' } : {}
  const start = () => startServer({ ...server, ...program, env })
  const killing = stack.use(
    await startKilling({ places: 2, count: kills, next: numbers(seed), start }),
  )
  const { running: servers, overSince } = killing
  const delivering: Delivering = {
    servers,
    overSince,
    next: numbers(seed + 1),
    posts: 0,
    repeated: 0,
    wrong: [],
  }
  const [texts] = await Promise.all([
    writeAll(options, { killing, delivering, channels }),
    killing.over,
  ])
  const late = await untilOver(owner)
  const { counts, rules } = await verdictOf(owner, texts, provider.taken)
  const head = {
    ...(naive ? { naive: 'yes' } : {}),
    seed,
    kills: killing.kills(),
    events: texts.length,
  }
  const all = {
    ...head,
    posts: delivering.posts,
    repeated: delivering.repeated,
    ...counts,
    requests: provider.requests(),
  }
  if (naive)
    return {
      counts: all,
      broken:
        counts.sent_twice! > 0 ? [] : ['nothing was sent twice: the harness would not notice it'],
    }
  const broken = Object.entries(rules).flatMap(([rule, count]) =>
    count === 0 ? [] : [`${rule}: ${count}`],
  )
  return { counts: all, broken: [...broken, ...late, ...delivering.wrong.slice(0, 20)] }
}

if (import.meta.main) {
  const args = process.argv.slice(2)
  const naive = args.includes('--naive')
  const defaults = { events: 1_000, kills: 100, workspaces: 10, machines: 20, seed: 1 }
  const given = optionsFrom(
    defaults,
    args.filter((arg) => arg !== '--naive'),
  )
  await alone('channels', () => runChannels({ ...given, naive }))
}
