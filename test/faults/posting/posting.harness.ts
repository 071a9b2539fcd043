/**
 * Two servers on one database, killed in turn at random times while clients post through a network
 * that misbehaves: each post stands on the network once at most, in a text that somebody approved
 * and has not taken back, and its item says the truth.
 * `npm run fault:posting -- --items 500 --kills 100 --seed 7`; with `--naive`, a publisher that
 * sends again stands in, and must be found out; with `--prompt` the network applies nothing late.
 */
import { type Story, textOf } from '#test/support/growth/story'
import { newDeployment, startServer } from '#test/support/processes/server'
import { askingThrough } from '../asking.ts'
import { type Killing, type Mortal, spreadOver, startKilling } from '../killing.ts'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { type Clients, newClients, persist, postItem } from './clients.ts'
import { runNaive } from './naive.ts'
import { type PlayedNetwork, sandboxNetwork } from './network.ts'
import type { PostingOptions } from './options.ts'
import { brokenRules, seenItems, untilSettled } from './verdict.ts'
import { changeOnesMind, noWords, unapproved, type Words } from './withdrawals.ts'

/** Longer than the longest wait between two sends. */
const SETTLES_WITHIN_MS = 330_000
const MANY = 1_000_000

const FAULTS = '500=0.05,429=0.03,slow=0.04,applied502=0.08,drop=0.05'
/**
 * Without posts that come late the network promises when it has applied what it answers with an
 * error, and doubts end by themselves.
 */
const PROMPT = '500=0.2,429=0.03,applied502=0.1,drop=0.05,lag=2s'
interface Load {
  killing: Killing<Mortal>
  clients: Clients
  stories: Story[]
  words: Words
}

const postAll = (
  { items: count, edits, clients: atOnce }: PostingOptions,
  { killing, clients, stories, words }: Load,
): Promise<void> =>
  spreadOver(killing, { count, clients: atOnce }, async (nth) => {
    const story = stories[nth % stories.length]!
    const id = await story.drafted()
    // Spread evenly over the run.
    if (Math.floor(((nth + 1) * edits) / count) > Math.floor((nth * edits) / count))
      return changeOnesMind(clients, words, story, id)
    words.approved.add(textOf(id))
    return postItem(clients, story, id)
  })

const BUSY = { withinMs: 30_000, pollMs: 20 }

/**
 * Lets the kills go on only as the clients do: where servers start slowly, all kills could pass
 * before anything is served. An item takes two answers at least, so half an answer per item is
 * always to be had.
 */
const inStep = async (
  { items, kills }: PostingOptions,
  clients: Clients,
  killed: number,
): Promise<void> => {
  const [share, until] = [(killed * items) / (2 * kills), performance.now() + BUSY.withinMs]
  while (clients.answered < share && performance.now() < until) await Bun.sleep(BUSY.pollMs)
}

/**
 * What was returned by itself is asked for once more, under the key that it was asked for before:
 * only then is it sent again. Each further round has a key of its own.
 */
const askAgain = async (
  { clients, stories }: Pick<Load, 'clients' | 'stories'>,
  { network, round }: { network: PlayedNetwork; round: number },
): Promise<number> => {
  const rows = await network.returned(clients.owner)
  const story = new Map(stories.map((one) => [one.tenantId, one]))
  await Promise.all(
    rows.map(({ id, tenant_id }) =>
      persist(clients, { story: story.get(tenant_id)!, id, action: 'post-now', round }),
    ),
  )
  return rows.length
}

/** Until everything has an end; how often something was asked for again, and what has none. */
const settle = async (
  load: Pick<Load, 'clients' | 'stories'>,
  network: PlayedNetwork,
  doubts: PostingOptions['doubts'],
): Promise<{ late: string[]; askedAgain: number }> => {
  const settled = () => untilSettled(load.clients.owner, { doubts, withinMs: SETTLES_WITHIN_MS })
  const late = await settled()
  let askedAgain = 0
  for (let round = 0; doubts === 'counted' && round < network.rounds; round++) {
    const asked = await askAgain(load, { network, round })
    if (asked === 0) break
    askedAgain += asked
    late.push(...(await settled()))
  }
  return { late, askedAgain }
}

/** What stands on the network against what the items say and people wanted. */
const compared = async (
  { clients, words }: Pick<Load, 'clients' | 'words'>,
  network: PlayedNetwork,
) => {
  const { owner } = clients
  await network.gather?.(owner)
  const { posts } = network
  const rules = await brokenRules(owner, { posts })
  return {
    rules,
    unapproved: await unapproved({ owner }, words, posts),
    seen: await seenItems(owner),
    more: await network.more?.(owner),
  }
}

/** Posts all items through the kills, waits until everything is settled, and compares. */
export async function runPosting(
  options: PostingOptions,
  network: PlayedNetwork = sandboxNetwork(options),
): Promise<Verdict> {
  const { items, kills, seed, doubts } = options
  await using world = await newDeployment()
  const { owner, server } = world
  const stories = await network.stories(world, options.workspaces, { post_now: MANY })
  const start = (nth: number) =>
    startServer({ ...server, env: { ...network.env(nth), LOG_LEVEL: 'silent' } })
  const busy = async (killed: number): Promise<void> => {
    await network.killed?.(killed)
    await inStep(options, clients, killed)
  }
  await using killing = await startKilling({
    places: 2,
    count: kills,
    next: numbers(seed),
    start,
    busy,
  })
  const clients = newClients(owner, askingThrough(killing, numbers(seed + 1)), network.asks)
  const load: Load = { killing, clients, stories, words: noWords() }
  await Promise.all([postAll(options, load), killing.over])
  await network.over?.(owner)
  const { late, askedAgain } = await settle(load, network, doubts)
  const { rules, more, ...found } = await compared(load, network)
  const { items: seen, ...ends } = found.seen
  const { words } = load
  const counts = {
    seed,
    items,
    kills: killing.kills(),
    repeated: clients.repeated,
    longest_wait_ms: clients.longestMs,
    wrong: clients.wrong.length,
    ...ends,
    asked_again: askedAgain,
    withdrawn: words.withdrawn.size,
    too_late_to_withdraw: words.tooLate,
    unapproved: found.unapproved,
    doubled: rules.doubled ?? 0,
    ...more?.counts,
  }
  const never = {
    ...rules,
    'posts of a text that nobody approved, or no longer': found.unapproved,
    'items that are gone': items - seen,
    ...more?.never,
  }
  const atStake = more?.atStake ?? {}
  return verdictOn({ counts, never, atStake, broken: late, wrong: clients.wrong })
}

if (import.meta.main) {
  const defaults = { items: 5_000, kills: 1_000, edits: 500, workspaces: 10, clients: 40, seed: 1 }
  const run = ({
    naive,
    prompt,
    ...given
  }: typeof defaults & Record<'naive' | 'prompt', boolean>) =>
    (naive ? runNaive : runPosting)({
      ...given,
      faults: prompt ? PROMPT : FAULTS,
      doubts: 'counted',
    })
  await alone('posting', defaults, run, 'naive', 'prompt')
}
