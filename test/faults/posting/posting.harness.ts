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
import { newStories } from '../stories.ts'
import { type Clients, newClients, persist, postItem } from './clients.ts'
import { runNaive } from './naive.ts'
import { faultsOf, type PostingOptions } from './options.ts'
import { brokenRules, seenItems, untilSettled } from './verdict.ts'
import { changeOnesMind, noWords, unapproved, type Words } from './withdrawals.ts'

const SETTLES_WITHIN_MS = 300_000

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
 * only then is it sent again.
 */
const askAgain = async ({
  clients,
  stories,
}: Pick<Load, 'clients' | 'stories'>): Promise<number> => {
  const rows = await clients.owner<{ id: string; tenant_id: string }[]>`
    select id, tenant_id from item where status = 'approved'
      and last_error = 'network_error_not_posted'`
  const story = new Map(stories.map((one) => [one.tenantId, one]))
  await Promise.all(
    rows.map(({ id, tenant_id }) =>
      persist(clients, { story: story.get(tenant_id)!, id, action: 'post-now' }),
    ),
  )
  return rows.length
}

/** Posts all items through the kills, waits until everything is settled, and compares. */
export async function runPosting(options: PostingOptions): Promise<Verdict> {
  const { items, kills, seed, doubts } = options
  await using world = await newDeployment()
  const { owner, server } = world
  const stories = await newStories(world, options.workspaces, { post_now: options.items })
  const start = (nth: number) =>
    startServer({ ...server, env: { SANDBOX_FAULTS: faultsOf(options, nth), LOG_LEVEL: 'silent' } })
  const busy = (killed: number): Promise<void> => inStep(options, clients, killed)
  await using killing = await startKilling({
    places: 2,
    count: kills,
    next: numbers(seed),
    start,
    busy,
  })
  const clients = newClients(owner, askingThrough(killing, numbers(seed + 1)))
  const words = noWords()
  await Promise.all([postAll(options, { killing, clients, stories, words }), killing.over])
  const late = await untilSettled(owner, { doubts, withinMs: SETTLES_WITHIN_MS })
  const askedAgain = doubts === 'counted' ? await askAgain({ clients, stories }) : 0
  if (askedAgain > 0)
    late.push(...(await untilSettled(owner, { doubts, withinMs: SETTLES_WITHIN_MS })))
  const rules = await brokenRules(owner)
  const { items: seen, ...ends } = await seenItems(owner)
  const unapprovedPosts = await unapproved({ owner }, words)
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
    unapproved: unapprovedPosts,
    doubled: rules.doubled ?? 0,
  }
  const never = {
    ...rules,
    'posts of a text that nobody approved, or no longer': unapprovedPosts,
    'items that are gone': items - seen,
  }
  return verdictOn({ counts, never, broken: late, wrong: clients.wrong })
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
