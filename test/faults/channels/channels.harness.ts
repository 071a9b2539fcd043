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
import { askingThrough } from '../asking.ts'
import { spreadOver, startKilling } from '../killing.ts'
import { countIn, untilNoneIsLeft, type Verdict, verdictOn, verdictOnNaive } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { unlimitAgents } from '../stories.ts'
import { type Provider, startProvider, type Written, write } from './provider.ts'
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
  await unlimitAgents(owner, { agent_requests: -1 })
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

const leftOf = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select ((select count(*) from agent_job where ended_at is null)
      + (select count(*) from channel_reply where status in ('queued', 'sending')))::int as n`)

export async function runChannels(options: ChannelOptions): Promise<Verdict> {
  const { events, seed, kills, naive } = options
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
  const asking = askingThrough(killing, numbers(seed + 1))
  const texts: string[] = []
  const load = { count: events, clients: options.machines }
  const writing = spreadOver(killing, load, async (nth) => {
    const event = eventOf(nth, channels)
    texts.push(event.text)
    await write(asking, event)
  })
  await Promise.all([writing, killing.over])
  const late = await untilNoneIsLeft('jobs and replies', STANDSTILL_MS, () => leftOf(owner))
  const { counts: seen, never } = await verdictOf(owner, texts, provider.taken)
  const counts = {
    ...(naive ? { naive: 'yes' } : {}),
    seed,
    kills: killing.kills(),
    events: texts.length,
    posts: asking.requests,
    repeated: asking.repeated,
    ...seen,
    requests: provider.requests(),
  }
  if (naive) return verdictOnNaive(counts, { 'messages sent twice': seen.sent_twice! })
  return verdictOn({ counts, never, broken: late, wrong: asking.wrong })
}

if (import.meta.main) {
  const defaults = { events: 1_000, kills: 100, workspaces: 10, machines: 20, seed: 1 }
  await alone('channels', defaults, runChannels, 'naive')
}
