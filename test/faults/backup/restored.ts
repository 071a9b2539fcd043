/** What becomes of one restored deployment beside the running original. */
import { eventually } from '#test/support/app'
import type { Story } from '#test/support/growth/story'
import { type Home, operated, serve } from './deployment.ts'

/** How long a held deployment is watched. */
const WATCHED_MS = 2_500
const SETTLES_WITHIN_MS = 60_000

type Answer = 'posted' | 'post' | 'keep' | 'reopen' | 'none'
const answers: readonly Answer[] = ['posted', 'post', 'keep', 'reopen', 'none']

interface Post {
  id: string
  text: string
}

const postsOf = async ({ owner }: Pick<Home, 'owner'>) =>
  await owner<Post[]>`select id, text from sandbox.posts`

/** The network is one: what the original has made since stands on the timeline of the copy too. */
const shareNetwork = async (original: Home, copy: Home): Promise<void> => {
  const known = new Set((await postsOf(copy)).map(({ id }) => id))
  const rows = await original.owner<{ id: string }[]>`select * from sandbox.posts`
  for (const row of rows.filter(({ id }) => !known.has(id)))
    await copy.owner`insert into sandbox.posts ${copy.owner(row)}`
}

const decide = async (
  story: Story,
  { id, post_at }: { id: string; post_at: string | null },
  answer: Answer,
): Promise<void> => {
  if (answer === 'posted') await story.send('POST', `items/${id}/posted`)
  else if (answer === 'reopen') await story.send('POST', `items/${id}/reopen`)
  else if (answer === 'keep' && post_at)
    await story.send('POST', `items/${id}/schedule`, { body: { post_at } })
  else if (answer === 'post' || answer === 'keep') await story.postNow(id)
}

interface Marked {
  id: string
  post_at: string | null
}

const markedOf = async (story: Story): Promise<Marked[]> => {
  const marked: Marked[] = []
  let cursor = ''
  do {
    const { body } = await story.send('GET', `items?restored=true&limit=100${cursor}`)
    marked.push(...body.items)
    cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : ''
  } while (cursor !== '')
  return marked
}

export interface Found {
  /** Posts that the copy made by itself while it was held. */
  sentHeld: number
  /** Texts that are on the one network more than once. */
  doubled: number
  marked: number
  /** Items that the copy lacks though they were acknowledged before its backup. */
  lost: number
}

interface Restoring {
  original: Home
  /** Of the copy. */
  path: string
  key: string
  faults: string
  random(): number
  /** Items that were acknowledged before the time of the backup. */
  acknowledged: readonly string[]
}

/** Held, decided upon at random, adopted, and counted. */
export const tryRestored = async (restoring: Restoring): Promise<Found> => {
  const { original, path, key, faults, random, acknowledged } = restoring
  await using copy = await serve(path, { key, faults })
  const before = new Set((await postsOf(copy)).map(({ id }) => id))
  const there = await copy.owner<{ id: string }[]>`select id from item`
  const ids = new Set(there.map(({ id }) => id))
  await Bun.sleep(WATCHED_MS)
  const sentHeld = (await postsOf(copy)).filter(({ id }) => !before.has(id)).length
  const marked = await markedOf(copy.story)
  await shareNetwork(original, copy)
  for (const one of marked)
    await decide(copy.story, one, answers[Math.floor(random() * answers.length)]!)
  await operated(path, 'identity', 'adopt', '--yes')
  await untilQuiet(copy)
  const times = new Map<string, number>()
  for (const { text } of await postsOf(copy)) times.set(text, (times.get(text) ?? 0) + 1)
  return {
    sentHeld,
    doubled: [...times.values()].filter((count) => count > 1).length,
    marked: marked.length,
    lost: acknowledged.filter((id) => !ids.has(id)).length,
  }
}

/** Until nothing is on its way: what was kept for later is brought forward. */
const untilQuiet = async ({ owner }: Home): Promise<void> => {
  await owner`update item set post_at = now() where status = 'approved' and post_at > now()`
  await owner`update work set run_at = now() where kind = 'send' and run_at > now()`
  await owner`update actor set wake_at = now(), nudged = true`
  await eventually(
    async () =>
      await owner`select 1 from work where kind = 'send'
        union all select 1 from item where status = 'publishing'`,
    (rows) => rows.length === 0,
    SETTLES_WITHIN_MS,
  )
}
