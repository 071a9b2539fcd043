/**
 * Two servers on one database, killed in turn at random times while clients reply to, quote, repost
 * and like posts of others on a network that misbehaves: each of it stands there once at most, and
 * its engagement says the truth. `npm run fault:engaging -- --engagements 400 --kills 80 --seed 7`.
 */
import { engageActions } from '#contract/records/growth/engagement'
import { testApp } from '#test/support/app'
import { type Story, storyAt } from '#test/support/growth/story'
import { type Deployment, newDeployment, startServer } from '#test/support/processes/server'
import { othersPosts } from '../generation-wishes.ts'
import { type Killing, type Mortal, startKilling } from '../killing.ts'
import { numbers } from '../numbers.ts'
import { alone, type Finished, optionsFrom } from '../own-database.ts'
import { type Clients, newClients, persist } from './clients.ts'
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
  const stories: Story[] = []
  for (let made = 0; made < workspaces; made++) {
    const { tenantId, key } = await app.newWorkspace()
    const [row] = await owner<
      { external_id: string }[]
    >`select external_id from connection where tenant_id = ${tenantId}`
    stories.push(storyAt({ owner, send: app.send }, { tenantId, key, account: row!.external_id }))
  }
  await owner`update tenant set overrides =
    ${owner.json({ create_engagement: MANY, execute_engagement: MANY, reads_free: MANY })}`
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

interface Load {
  killing: Killing<Mortal>
  clients: Clients
  wanted: Wanted[]
}

/** They are spread over the kills: each is begun when its share of the kills has taken place. */
const executeAll = async (
  { kills, clients: count }: EngagingOptions,
  { killing, clients, wanted }: Load,
): Promise<void> => {
  let begun = 0
  const client = async (): Promise<void> => {
    while (begun < wanted.length) {
      if (begun * kills > (killing.kills() + 1) * wanted.length) {
        await Bun.sleep(20)
        continue
      }
      const one = { on: 'engagements', ...wanted[begun++]! } as const
      await persist(clients, { ...one, action: 'approve' })
      await persist(clients, { ...one, action: 'execute' })
    }
  }
  await Promise.all(Array.from({ length: count }, client))
}

/** Executes all through the kills, waits until everything is settled, and compares. */
export async function runEngaging(options: EngagingOptions): Promise<Finished> {
  const { kills, seed, doubts } = options
  await using world = await newDeployment()
  const { owner, server } = world
  const wanted = await drafted(world, options)
  await recordArrivals(owner)
  const start = (nth: number) =>
    startServer({ ...server, env: { SANDBOX_FAULTS: faultsOf(options, nth), LOG_LEVEL: 'silent' } })
  await using killing = await startKilling({ places: 2, count: kills, next: numbers(seed), start })
  const clients = newClients({
    owner,
    servers: killing.running,
    overSince: killing.overSince,
    next: numbers(seed + 1),
  })
  await Promise.all([executeAll(options, { killing, clients, wanted }), killing.over])
  const late = await untilExecuted(owner, { doubts, withinMs: SETTLES_WITHIN_MS })
  const rules = await brokenRules(owner)
  const broken = Object.entries(rules).flatMap(([rule, count]) =>
    count > 0 ? [`${rule}: ${count}`] : [],
  )
  const ends = await endsOf(owner)
  if (ends.engagements !== wanted.length)
    broken.push(`${wanted.length - ends.engagements} engagements are gone`)
  const doubled = Object.fromEntries(
    Object.entries(rules).filter(([rule]) => rule.startsWith('doubled_')),
  )
  const asked = {
    kills: killing.kills(),
    repeated: clients.repeated,
    longest_wait_ms: clients.longestMs,
    wrong: clients.wrong.length,
  }
  return {
    counts: { seed, ...asked, ...ends, ...doubled },
    broken: [...broken, ...late, ...clients.wrong.slice(0, 20)],
  }
}

if (import.meta.main) {
  const defaults = { engagements: 500, kills: 80, workspaces: 10, clients: 30, seed: 1 }
  await alone('engaging', () =>
    runEngaging({
      ...optionsFrom(defaults, process.argv.slice(2)),
      faults: FAULTS,
      doubts: 'counted',
    }),
  )
}
