/**
 * When the residents of the sandbox post, and what. Everything derives from seeds, so that all
 * readers see the same, nothing is stored and nothing has to run. A post's id contains its time, as
 * on real networks.
 */
import { createRandom, pick, type Random } from '#kernel/random'
import { type Resident, residents } from './residents.ts'

export interface ScheduledPost {
  id: string
  resident: Resident
  createdAt: Date
  text: string
  /** `@` in the text stands for a connected account. */
  addresses: boolean
}

const HOUR_MS = 3_600_000
/** Ids count like `sandbox.next_id()`: milliseconds since this moment, above 22 bits. */
const EPOCH_MS = 1_288_834_974_657
const TAIL_BITS = 22n
/** The largest tail of an id. Residents count down from it, one value for each; rows count up. */
const LAST_TAIL = 4_194_303

const SHARE_OF_QUESTIONS = 0.25
const SHARE_OF_ADDRESSES = 0.2

const idOf = (ms: number, index: number): string =>
  String((BigInt(ms - EPOCH_MS) << TAIL_BITS) | BigInt(LAST_TAIL - index))

/**
 * Ids of posts that a workspace has residents write: above those of rows, below those of the
 * schedule.
 */
const SAID_FROM = 2_097_152
const SAID_TO = LAST_TAIL - 1_023

/**
 * An id for this moment. `draw` returns an integer from its first argument up to, but not
 * including, its second.
 */
export const residentPostId = (at: Date, draw: (from: number, to: number) => number): string =>
  idOf(at.getTime(), LAST_TAIL - draw(SAID_FROM, SAID_TO))

/** A statement, sometimes followed by one of the resident's asides. */
const statementAt = (random: Random, { statements, asides }: Resident, slot: number): string => {
  // Statements come in turn, so that none comes back soon.
  const statement = statements[slot % statements.length] ?? ''
  return random() < 0.6 ? `${statement} ${pick(random, asides) ?? ''}` : statement
}

const slotPost = (index: number, slot: number): ScheduledPost => {
  const resident = residents[index]!
  const random = createRandom(`${resident.handle} ${slot}`)
  const periodMs = resident.everyHours * HOUR_MS
  const ms = slot * periodMs + Math.floor(random() * periodMs)
  const kind = random()
  const addresses = kind < SHARE_OF_ADDRESSES
  const about = { id: idOf(ms, index), resident, createdAt: new Date(ms), addresses }
  if (addresses) return { ...about, text: pick(random, resident.addresses) ?? '' }
  if (kind < SHARE_OF_ADDRESSES + SHARE_OF_QUESTIONS)
    return { ...about, text: pick(random, resident.questions) ?? '' }
  return { ...about, text: statementAt(random, resident, slot) }
}

/** Handles are compared without regard to case. */
export const residentOf = (handle: string): Resident | undefined =>
  residents.find((resident) => resident.handle === handle.toLowerCase())

/** A resident's posts from `since` to `now`, newest first. */
export const postsOf = (
  resident: Resident,
  { since, now, limit }: { since: Date; now: Date; limit: number },
): ScheduledPost[] => {
  const index = residents.indexOf(resident)
  const posts: ScheduledPost[] = []
  for (
    let slot = Math.floor(now.getTime() / (resident.everyHours * HOUR_MS));
    posts.length < limit && slot >= 0;
    slot--
  ) {
    const post = slotPost(index, slot)
    if (post.createdAt < since) break
    if (post.createdAt <= now) posts.push(post)
  }
  return posts
}

/** The resident's post with this id, if its time has come. */
export const scheduledPost = (id: string, now: Date): ScheduledPost | undefined => {
  const bits = BigInt(id)
  const index = LAST_TAIL - Number(bits & BigInt(LAST_TAIL))
  const resident = residents[index]
  if (!resident) return undefined
  const ms = Number(bits >> TAIL_BITS) + EPOCH_MS
  const post = slotPost(index, Math.floor(ms / (resident.everyHours * HOUR_MS)))
  return post.id === id && post.createdAt <= now ? post : undefined
}

/** How a post's metrics grow with its age, before any account of the sandbox adds to them. */
export const interestIn = ({ id, resident, createdAt }: ScheduledPost, now: Date) => {
  const random = createRandom(`interest ${id}`)
  const hours = Math.max(0, now.getTime() - createdAt.getTime()) / HOUR_MS
  const impressions = Math.floor(
    resident.reach * (0.2 + 0.8 * random()) * (1 - Math.exp(-hours / 9)),
  )
  const share = (most: number): number => Math.floor(impressions * most * random())
  return {
    impressions,
    likes: share(0.04),
    replies: share(0.008),
    reposts: share(0.008),
    quotes: share(0.002),
    clicks: share(0.01),
  }
}
