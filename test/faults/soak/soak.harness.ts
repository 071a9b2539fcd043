/**
 * An hour of mixed load on one server: reads, posts, drafts, turns of the agent with their streams,
 * documents, MCP sessions, messages of a channel, deliveries and refused sign-ins. Its resident
 * memory may grow by at most 1 MiB a minute after the tenth minute, and once nobody asks for
 * anything, it goes down. `npm run fault:soak -- --minutes 60 --seed 7`.
 */

import { scopes } from '#kernel/scopes'
import { testApp } from '#test/support/app'
import { devChannel, linked } from '#test/support/channels/dev-posts'
import { TEST_SECRET } from '#test/support/database/db'
import { softwareProfile } from '#test/support/growth/profiles'
import { hookOf } from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { type Deployment, newDeployment, startServer } from '#test/support/processes/server'
import { startProvider } from '../channels/provider.ts'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { residentOf } from '../resident.ts'
import { unlimitAgents } from '../stories.ts'
import { type Home, live, type Scene } from './load.ts'

export interface SoakOptions {
  minutes: number
  workspaces: number
  clients: number
  /** Of a client between two acts, on average. */
  pauseMs: number
  /** How long the server is left alone at the end. */
  idleMinutes: number
  /** How long a minute of the run lasts. */
  minuteSeconds: number
  seed: number
}

const SAMPLES_A_MINUTE = 30
/** Until then caches fill, and code is compiled. */
const WARM_MINUTES = 10
const MOST_MIB_A_MINUTE = 1
const REPORT_MINUTES = 5

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/**
 * How much the values grow from one to the next: the slope of the line through them that is nearest
 * by squares.
 */
export const slopeOf = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const by = values.reduce((sum, value, n) => sum + (n - middle) * (value - mean), 0)
  return by / values.reduce((sum, _, n) => sum + (n - middle) ** 2, 0)
}

const actsIn = (done: Record<string, number>): number =>
  Object.values(done).reduce((sum, n) => sum + n, 0)

/**
 * Workspaces with a profile, a webhook and a channel, made by an app that owns them only while it
 * runs.
 */
const newHomes = async (
  { server, owner }: Deployment,
  count: number,
  { channel, hook }: { channel: string; hook: string },
): Promise<Home[]> => {
  const env = { EGRESS_ALLOW: [channel, hook].map((url) => new URL(url).host).join() }
  await using app = await testApp({ database: server.database!, env, overrides: { sweepMs: 0 } })
  const homes: Home[] = []
  for (let made = 0; made < count; made++) {
    const { tenantId } = await app.newWorkspace()
    const { api_key: key } = await app.newKey([...scopes], tenantId)
    await hookOf(app, tenantId).set(hook)
    await app.send('PUT', 'profile', { key, body: { writing_dna: softwareProfile.writing_dna } })
    const dev = await devChannel(app, { config: { url: channel } }, tenantId)
    await linked(app, dev, 'somebody')
    homes.push({ key, channel: dev })
  }
  const many = { post_now: 1e6, create_batch: 1e6, create_item: 1e6, posts: 1e6, documents: 1e6 }
  await unlimitAgents(owner, many)
  return homes
}

/** The median of resident memory in each minute, and a report every few. */
const sampled = async (
  { server, done }: Scene,
  minutes: number,
  { minuteSeconds }: SoakOptions,
): Promise<number[]> => {
  const { pid, output } = server
  const medians: number[] = []
  const minuteMs = minuteSeconds * 1_000
  for (let minute = 1; minute <= minutes; minute++) {
    const samples: number[] = []
    const until = performance.now() + minuteMs
    while (performance.now() < until) {
      samples.push(residentOf(pid))
      await Bun.sleep(minuteMs / SAMPLES_A_MINUTE)
    }
    medians.push(medianOf(samples))
    const [heap = ''] = minute % REPORT_MINUTES === 1 ? (/heap \{.*\}\n$/.exec(output()) ?? []) : []
    if (minute % REPORT_MINUTES === 0) process.kill(pid, 'SIGUSR2')
    console.log(
      `minute ${minute}: ${medians.at(-1)!.toFixed(0)} MiB, ${actsIn(done)} acts ${heap.trim()}`,
    )
  }
  return medians
}

/** The answer of every call in a conversation: one call of a tool, then words. */
const answers = ({ messages }: { messages: { role: string }[] }) =>
  messages.at(-1)!.role === 'tool'
    ? { text: '**Done.** Here is what I found:\n\n- one\n- two' }
    : { calls: [{ id: `c${messages.length}`, name: 'growth_overview', arguments: '{}' }] }

export async function runSoak(options: SoakOptions): Promise<Verdict> {
  const { minutes, seed, clients, pauseMs, idleMinutes } = options
  await using stack = new AsyncDisposableStack()
  const deployment = stack.use(await newDeployment())
  const provider = stack.use(startProvider(() => 1))
  const receiver = stack.use(await openReceiver())
  receiver.answer = () => {
    receiver.requests.length = 0
    return {}
  }
  const fake = stack.use(await createFakeOpenAi())
  fake.converseOtherwise((asked) => {
    fake.chats.length = 0
    return answers(asked)
  })
  const homes = await newHomes(deployment, options.workspaces, {
    channel: provider.url,
    hook: receiver.url,
  })
  const env = {
    OPENAI_BASE_URL: fake.url,
    EGRESS_ALLOW: `127.0.0.1:${provider.port},127.0.0.1:${receiver.port}`,
    LOG_LEVEL: 'silent',
  }
  const preload = `${import.meta.dir}/heap.ts`
  const secret = TEST_SECRET.toString('base64')
  const server = stack.use(await startServer({ ...deployment.server, secret, env, preload }))
  const scene: Scene = { server, homes, next: numbers(seed), done: {}, wrong: [] }
  let isOver = false
  const living = Array.from({ length: clients }, () => live(scene, pauseMs, () => isOver))
  const medians = await sampled(scene, minutes, options)
  isOver = true
  await Promise.all(living)
  const left = await sampled(scene, idleMinutes, options)
  return verdictOf(options, scene, medians, left)
}

const verdictOf = (
  { minutes, seed }: SoakOptions,
  { done, wrong }: Scene,
  medians: number[],
  left: number[],
): Verdict => {
  const growth = slopeOf(medians.slice(Math.min(WARM_MINUTES, medians.length - 2)))
  const mib = {
    first_mib: Math.round(medians[0]!),
    last_mib: Math.round(medians.at(-1)!),
    idle_mib: Math.round(left.at(-1) ?? 0),
  }
  const broken =
    growth > MOST_MIB_A_MINUTE ? [`resident memory grew by ${growth.toFixed(2)} MiB a minute`] : []
  if (minutes > WARM_MINUTES && left.length > 0 && mib.idle_mib >= mib.last_mib)
    broken.push('resident memory did not go down once nobody asked for anything')
  const counts = { seed, minutes, acts: actsIn(done), ...mib, mib_a_minute: growth.toFixed(2) }
  return verdictOn({ counts, broken, wrong })
}

if (import.meta.main) {
  const defaults = {
    minutes: 60,
    workspaces: 60,
    clients: 12,
    pauseMs: 700,
    idleMinutes: 3,
    minuteSeconds: 60,
    seed: 1,
  }
  await alone('soak', defaults, runSoak)
}
