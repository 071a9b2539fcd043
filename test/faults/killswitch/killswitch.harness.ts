/**
 * The kill switch under load: posts that are all due, running generations, rules that draft after
 * each post and signal, and due reads, paused again and again at random moments at either of two
 * servers. Between an answer of pause-all and the next resume-all nothing is posted but what the
 * answer listed, no automatic generation ends, no rule acts and no automatic work begins; after the
 * last resume-all every post goes out once. The operator's switch over all workspaces is tried in
 * the same way. Then it times the answer while the mailbox is full.
 * Jobs of the agent follow, as `agent.ts` says. `npm run fault:killswitch -- --items 500 --rounds
 * 10 --jobs 200 --seed 7`; with `--naive`, a switch that holds back what begins, and not jobs that
 * have begun, stands in, and must be found out.
 */
import { type Story, textOf } from '#test/support/growth/story'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { runAgentSwitch } from './agent.ts'
import { type EverywhereTally, noneEverywhere, oneRoundEverywhere } from './everywhere.ts'
import { newStories, ordered, twoServers, type World } from './servers.ts'
import { type Acknowledged, databaseOffset, fullMailboxTimes, quantile } from './times.ts'
import { begunBetween, readsDue, unattendedOf, unattendedTotals } from './unattended.ts'

export interface KillSwitchOptions {
  /** Of all workspaces together. */
  items: number
  workspaces: number
  /** How often every workspace is resumed and paused, and below how often all are at once. */
  rounds: number
  everywhere: number
  /** How long after an answer the network is watched for posts. */
  watchMs: number
  /** How many answers are timed, and behind how many background letters. */
  samples: number
  letters: number
  seed: number
}

/** What an operator may expect of the answer, at the 99th percentile. */
const P99_MS = 50
const SETTLES_WITHIN_MS = 120_000
const GENERATIONS = 3
/**
 * A share of the resumed periods is long, so that rules and reads, whose turn comes last, get
 * theirs.
 */
const LONG = { share: 0.3, ms: 2_500 }

type Paused = Acknowledged & { story: Story; listed: Set<string> }

const pause = async (world: World, story: Story, offset: number): Promise<Paused> => {
  const { in_flight } = await ordered(world, story, 'pause-all')
  const at = performance.timeOrigin + performance.now() + offset
  return { story, at, listed: new Set(in_flight.map(({ item_id }) => item_id)) }
}

/**
 * The first generation is a person's and runs; those behind it are made automatic, as if rules had
 * requested them.
 */
const generate = async ({ owner }: World, story: Story): Promise<void> => {
  for (let made = 0; made < GENERATIONS; made++)
    await story.send('POST', 'batches', { body: { count: 1 } })
  await owner`update work set origin = 'automatic' where lane = 'generation' and state = 'queued'
    and tenant_id = ${story.tenantId}`
}

const automaticOf = async ({ owner }: World, story: Story): Promise<string> => {
  const rows = await owner<{ id: string }[]>`select ref_id as id from work
    where lane = 'generation' and origin = 'automatic' and tenant_id = ${story.tenantId} order by 1`
  return rows.map(({ id }) => id).join()
}

/** Items posted after the answer that it did not list, and those that it did. */
const sentAfter = async ({ owner }: World, { story, at, listed }: Paused) => {
  const rows = await owner<
    { text: string; ms: number }[]
  >`select text, (extract(epoch from created_at) * 1000)::float8 as ms
    from sandbox.posts where account_id = ${story.account}`
  const late = rows.filter(({ ms }) => ms > at).map(({ text }) => text)
  const allowed = new Set([...listed].map(textOf))
  return {
    unlisted: late.filter((text) => !allowed.has(text)).length,
    finished: late.filter((text) => allowed.has(text)).length,
  }
}

const noneBegun = { begun_after_answer: 0, runs_left: 0 }

interface Tally extends EverywhereTally {
  pauses: number
  listed: number
  listed_sent_later: number
  cancelled: number
  sent_after_answer: number
  automatic_left: number
  /** Automatic work and rules that began during a pause, and runs that waited then. */
  begun_after_answer: number
  runs_left: number
}

/** Resumes and pauses a workspace once, then watches it. */
const oneRound = async (
  world: World,
  story: Story,
  { watchMs, offset, tally }: { watchMs: number; offset: number; tally: Tally },
) => {
  await generate(world, story)
  await readsDue(world.owner, story)
  await ordered(world, story, 'resume-all')
  await Bun.sleep(20 + world.next() * (world.next() < LONG.share ? LONG.ms : 300))
  const paused = await pause(world, story, offset)
  if ((await automaticOf(world, story)) !== '') tally.automatic_left++
  const before = await unattendedOf(world.owner, story)
  await Bun.sleep(watchMs)
  const after = await unattendedOf(world.owner, story)
  tally.begun_after_answer += begunBetween(before, after)
  tally.runs_left += before.open + after.open
  const { unlisted, finished } = await sentAfter(world, paused)
  tally.pauses++
  tally.listed += paused.listed.size
  tally.listed_sent_later += finished
  tally.sent_after_answer += unlisted
}

/** Resumes for good, and waits until every post is out. */
const allPosted = async (world: World, stories: Story[]): Promise<string[]> => {
  await Promise.all(stories.map((story) => ordered(world, story, 'resume-all')))
  const open = async () =>
    (
      await world.owner`select 1 from item where kind = 'post'
        and status in ('approved', 'publishing')`
    ).length
  const until = performance.now() + SETTLES_WITHIN_MS
  while ((await open()) > 0 && performance.now() < until) await Bun.sleep(50)
  const left = await world.owner`select id from item where batch_id is null and status <> 'posted'`
  const wrong = await world.owner`select 1 from item i where batch_id is null and
    (select count(*) from sandbox.posts p where p.text = i.body) <> 1`
  return [
    ...(left.length > 0 ? [`${left.length} items were not posted after resuming`] : []),
    ...(wrong.length > 0 ? [`${wrong.length} items are not on the network exactly once`] : []),
  ]
}

/**
 * After resuming for good, rules act and targets are read eventually, if they have not been before.
 */
const lively = async ({ owner }: World) => {
  const until = performance.now() + SETTLES_WITHIN_MS
  for (;;) {
    const { rules_acted, rules_held, targets_read } = await unattendedTotals(owner)
    if ((rules_acted > 0 && targets_read > 0) || performance.now() > until)
      return { rules_acted, rules_held, targets_read }
    await Bun.sleep(50)
  }
}

export async function runKillSwitch(options: KillSwitchOptions): Promise<Verdict> {
  const { seed, rounds, everywhere, watchMs, samples, letters } = options
  await using stack = new AsyncDisposableStack()
  const world = await twoServers(stack, numbers(seed))
  const stories = await newStories(world, options)
  const offset = await databaseOffset(world.owner)
  const tally: Tally = {
    pauses: 0,
    listed: 0,
    listed_sent_later: 0,
    cancelled: 0,
    sent_after_answer: 0,
    automatic_left: 0,
    ...noneBegun,
    ...noneEverywhere,
  }
  const rest = { watchMs, offset, tally }
  for (let round = 0; round < rounds; round++)
    await Promise.all(stories.map((story) => oneRound(world, story, rest)))
  for (let round = 0; round < everywhere; round++)
    await oneRoundEverywhere(world, stories, { ...rest, runMs: 20 + world.next() * 300 })
  const [{ sent, cancelled } = { sent: 0, cancelled: 0 }] = await world.owner<
    { sent: number; cancelled: number }[]
  >`select
    (select count(*) from sandbox.posts)::int as sent, (select count(*) from batch
      where error = 'cancelled')::int as cancelled`
  const unattended = await unattendedTotals(world.owner)
  const broken = await allPosted(world, stories)
  const { everywhere_held } = tally
  const atStake = { sent, cancelled, everywhere_held, ...(await lively(world)) }
  // The answer is timed on a workspace of its own, and only that workspace's letters may be in its
  // way.
  await Promise.all(stories.map((story) => ordered(world, story, 'pause-all')))
  const { times, refused } = await fullMailboxTimes(world.apps[0], { samples, letters })
  const p99 = quantile(times, 0.99)
  const { cancelled: _, ...seen } = tally
  const timed = {
    letters,
    refused,
    samples,
    p50_ms: quantile(times, 0.5).toFixed(1),
    p99_ms: p99.toFixed(1),
  }
  const counts = {
    seed,
    items: options.items,
    rounds,
    sent_while_resumed: sent,
    cancelled,
    ...seen,
    ...unattended,
    ...timed,
  }
  const {
    sent_after_answer,
    automatic_left,
    begun_after_answer,
    runs_left,
    sent_after_everywhere,
    begun_after_everywhere,
  } = tally
  const never = {
    sent_after_answer,
    automatic_left,
    begun_after_answer,
    runs_left,
    sent_after_everywhere,
    begun_after_everywhere,
  }
  const late =
    p99 < P99_MS
      ? []
      : [`the 99th percentile of the answer is ${p99.toFixed(1)} ms, not below ${P99_MS}`]
  return verdictOn({ counts, never, atStake, broken, late })
}

const defaults = {
  items: 500,
  workspaces: 5,
  rounds: 12,
  everywhere: 6,
  watchMs: 1_000,
  samples: 300,
  letters: 900,
  jobs: 200,
  seed: 1,
}

/** Posts and generations, then jobs of the agent. */
const runBoth = async (options: typeof defaults & { naive: boolean }): Promise<Verdict> => {
  if (options.naive) return runAgentSwitch(options)
  const posts = await runKillSwitch(options)
  const agent = await runAgentSwitch(options)
  const ofAgent = Object.entries(agent.counts).map(([what, n]) => [`agent_${what}`, n] as const)
  return {
    ...posts,
    counts: { ...posts.counts, ...Object.fromEntries(ofAgent) },
    broken: [...posts.broken, ...agent.broken],
  }
}

if (import.meta.main) await alone('killswitch', defaults, runBoth, 'naive')
