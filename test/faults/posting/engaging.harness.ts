/**
 * Two servers on one database, killed in turn at random times while clients reply to, quote, repost
 * and like posts of others on a network that misbehaves: each of it stands there once at most, and
 * its engagement says the truth. `npm run fault:engaging -- --engagements 400 --kills 80 --seed 7`.
 */
import { engageActions } from '#contract/records/growth/engagement'
import { testApp } from '#test/support/app'
import type { Story } from '#test/support/growth/story'
import { type Deployment, newDeployment, startServer } from '#test/support/processes/server'
import { askingThrough } from '../asking.ts'
import { othersPosts } from '../generation-wishes.ts'
import { spreadOver, startKilling } from '../killing.ts'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { makeStories } from '../stories.ts'
import { APPROVED_AND_SENT, newClients, persist } from './clients.ts'
import { brokenRules, endsOf, recordArrivals, untilExecuted } from './engaging-verdict.ts'
import { faultsOf, type PostingOptions } from './options.ts'

export interface EngagingOptions extends Omit<PostingOptions, 'items' | 'edits'> {
  engagements: number
}

const SETTLES_WITHIN_MS = 240_000
const FAULTS = '500=0.05,429=0.03,slow=0.06,applied502=0.1,drop=0.06'
const MANY = 1_000_000

/** The same to everybody: only where it stands tells one answer from another. */
const WORDS = 'We call before a late delivery, not after.'

interface Wanted {
  story: Story
  id: string
}

/**
 * Drafted engagements, each action on each post, by turns of the workspaces. Wakes nobody: the rest
 * is left to the servers.
 */
const drafted = async (
  { owner, server }: Deployment,
  { workspaces, engagements }: EngagingOptions,
): Promise<Wanted[]> => {
  await using app = await testApp({ database: server.database!, overrides: { sweepMs: 0 } })
  const limits = { create_engagement: MANY, execute_engagement: MANY, reads_free: MANY }
  const stories = await makeStories(app, owner, { count: workspaces, limits })
  const posts = await othersPosts(owner, Math.ceil(engagements / workspaces / engageActions.length))
  const wanted: Wanted[] = []
  for (let made = 0; made < engagements; made++) {
    const [story, turn] = [stories[made % workspaces]!, Math.floor(made / workspaces)]
    const action = engageActions[turn % engageActions.length]!
    const words = action === 'reply' || action === 'quote' ? { body: WORDS } : {}
    const body = { post: posts[Math.floor(turn / engageActions.length)]!, action, ...words }
    const reply = await story.send('POST', 'engagements', { body })
    if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
    wanted.push({ story, id: reply.body.engagement.id })
  }
  return wanted
}

/** Executes all through the kills, waits until everything is settled, and compares. */
export async function runEngaging(options: EngagingOptions): Promise<Verdict> {
  const { kills, seed, doubts } = options
  await using world = await newDeployment()
  const { owner, server } = world
  const wanted = await drafted(world, options)
  await recordArrivals(owner)
  const start = (nth: number) =>
    startServer({ ...server, env: { SANDBOX_FAULTS: faultsOf(options, nth), LOG_LEVEL: 'silent' } })
  await using killing = await startKilling({ places: 2, count: kills, next: numbers(seed), start })
  const clients = newClients(owner, askingThrough(killing, numbers(seed + 1)))
  const execute = async (nth: number) => {
    const one = { on: 'engagements', ...wanted[nth]! } as const
    if (clients.next() < 0.5)
      return void (await persist(clients, { ...one, action: 'approve', body: APPROVED_AND_SENT }))
    await persist(clients, { ...one, action: 'approve' })
    await persist(clients, { ...one, action: 'execute' })
  }
  const load = { count: wanted.length, clients: options.clients }
  await Promise.all([spreadOver(killing, load, execute), killing.over])
  const late = await untilExecuted(owner, { doubts, withinMs: SETTLES_WITHIN_MS })
  const rules = await brokenRules(owner)
  const ends = await endsOf(owner)
  const doubled = Object.fromEntries(
    Object.entries(rules).filter(([rule]) => rule.startsWith('doubled_')),
  )
  const asked = {
    kills: killing.kills(),
    repeated: clients.repeated,
    longest_wait_ms: clients.longestMs,
    wrong: clients.wrong.length,
  }
  return verdictOn({
    counts: { seed, ...asked, ...ends, ...doubled },
    never: { ...rules, 'engagements that are gone': wanted.length - ends.engagements },
    broken: late,
    wrong: clients.wrong,
  })
}

if (import.meta.main) {
  const defaults = { engagements: 500, kills: 80, workspaces: 10, clients: 30, seed: 1 }
  await alone('engaging', defaults, (given) =>
    runEngaging({ ...given, faults: FAULTS, doubts: 'counted' }),
  )
}
