/** The kill switch of the operator, over all workspaces of the two servers at once. */
import { TEST_SECRET } from '#test/support/database/db'
import { type Story, textOf } from '#test/support/growth/story'
import { runAdmin } from '#test/support/processes/server'
import { ordered, type World } from './servers.ts'
import { begunBetween, readsDue, type Unattended, unattendedOf } from './unattended.ts'

export interface EverywhereTally {
  everywhere: number
  /** Posts in the answers, and due ones that the pauses held. */
  everywhere_listed: number
  everywhere_held: number
  sent_after_everywhere: number
  begun_after_everywhere: number
}

export const noneEverywhere: EverywhereTally = {
  everywhere: 0,
  everywhere_listed: 0,
  everywhere_held: 0,
  sent_after_everywhere: 0,
  begun_after_everywhere: 0,
}

const admin = async ({ apps: [app] }: World, command: 'pause' | 'resume') => {
  const secret = TEST_SECRET.toString('base64')
  const deployment = { key: app.key, database: app.options, secret }
  const { code, err, json } = await runAdmin(deployment, command, '--all')
  if (code !== 0) throw new Error(`${command}: ${code} ${err}`)
  return json as { under_way: { id: string }[] }
}

const sentSince = async ({ owner }: World, at: number): Promise<string[]> => {
  const rows = await owner<{ text: string }[]>`select text from sandbox.posts
    where extract(epoch from created_at) * 1000 > ${at}`
  return rows.map(({ text }) => text)
}

const dueNow = async ({ owner }: World): Promise<number> =>
  (await owner`select from item where status = 'approved' and post_at <= now()`).length

/** Of each workspace, so that a pause has something to hold. */
const POSTS_MORE = 8

interface Watching {
  watchMs: number
  /** How long everything may run before the pause. */
  runMs: number
  offset: number
  tally: EverywhereTally
}

/** Resumes all workspaces and pauses them as the operator does, then watches them. */
export const oneRoundEverywhere = async (
  world: World,
  stories: readonly Story[],
  { watchMs, runMs, offset, tally }: Watching,
): Promise<void> => {
  for (const story of stories) {
    for (let made = 0; made < POSTS_MORE; made++) await story.scheduled(0)
    await readsDue(world.owner, story)
  }
  await Promise.all(stories.map((story) => ordered(world, story, 'resume-all')))
  await Bun.sleep(runMs)
  const { under_way } = await admin(world, 'pause')
  const at = performance.timeOrigin + performance.now() + offset
  const all = (): Promise<Unattended[]> =>
    Promise.all(stories.map((story) => unattendedOf(world.owner, story)))
  const before = await all()
  await Bun.sleep(watchMs)
  const after = await all()
  const listed = new Set(under_way.map(({ id }) => textOf(id)))
  tally.everywhere++
  tally.everywhere_listed += listed.size
  tally.everywhere_held += await dueNow(world)
  tally.sent_after_everywhere += (await sentSince(world, at)).filter(
    (text) => !listed.has(text),
  ).length
  for (const [nth, one] of before.entries())
    tally.begun_after_everywhere += begunBetween(one, after[nth]!)
  // So that what each story posts comes bit by bit, as in the other rounds.
  await Promise.all(stories.map((story) => ordered(world, story, 'pause-all')))
  await admin(world, 'resume')
}
