/**
 * When the residents of the sandbox post, and what: drawn from seeds, so that everybody who reads sees the same, nothing is stored
 * and nothing has to run. A post's id tells its moment, as those of real networks do.
 */
import { createRandom, pick, type Random } from '#port/model/composer/random'
import { type Resident, residents } from './residents.ts'

export interface ScheduledPost {
  id: string
  resident: Resident
  createdAt: Date
  text: string
  /** `@` in the text stands for an account that is connected. */
  addresses: boolean
}

const HOUR_MS = 3_600_000
/** As `sandbox.next_id()` counts: milliseconds since then, above 22 bits. */
const EPOCH_MS = 1_288_834_974_657
const TAIL_BITS = 22n
/** Ids of residents' posts end at the top of what rows count up to, a place for each resident. */
const LAST_TAIL = 4_194_303

const SHARE_OF_QUESTIONS = 0.25
const SHARE_OF_ADDRESSES = 0.2

const idOf = (ms: number, index: number): string => String((BigInt(ms - EPOCH_MS) << TAIL_BITS) | BigInt(LAST_TAIL - index))

/** Of some of a resident's statements, what is put after it. */
const said = (random: Random, { statements, asides }: Resident, slot: number): string => {
  // One after the other, so that none comes back soon.
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
  if (kind < SHARE_OF_ADDRESSES + SHARE_OF_QUESTIONS) return { ...about, text: pick(random, resident.questions) ?? '' }
  return { ...about, text: said(random, resident, slot) }
}

/** Differs by case alone from none. */
export const residentOf = (handle: string): Resident | undefined => residents.find((resident) => resident.handle === handle.toLowerCase())

/** What a resident has posted from `since` until `now`, newest first. */
export const postsOf = (resident: Resident, { since, now, limit }: { since: Date; now: Date; limit: number }): ScheduledPost[] => {
  const index = residents.indexOf(resident)
  const posts: ScheduledPost[] = []
  for (let slot = Math.floor(now.getTime() / (resident.everyHours * HOUR_MS)); posts.length < limit && slot >= 0; slot--) {
    const post = slotPost(index, slot)
    if (post.createdAt < since) break
    if (post.createdAt <= now) posts.push(post)
  }
  return posts
}

/** The resident's post of this id, if its moment has come. */
export const scheduledPost = (id: string, now: Date): ScheduledPost | undefined => {
  const bits = BigInt(id)
  const index = LAST_TAIL - Number(bits & BigInt(LAST_TAIL))
  const resident = residents[index]
  if (!resident) return undefined
  const ms = Number(bits >> TAIL_BITS) + EPOCH_MS
  const post = slotPost(index, Math.floor(ms / (resident.everyHours * HOUR_MS)))
  return post.id === id && post.createdAt <= now ? post : undefined
}

/** What becomes of a post while it grows older, before anybody here does anything with it. */
export const interestIn = ({ id, resident, createdAt }: ScheduledPost, now: Date) => {
  const random = createRandom(`interest ${id}`)
  const hours = Math.max(0, now.getTime() - createdAt.getTime()) / HOUR_MS
  const impressions = Math.floor(resident.reach * (0.2 + 0.8 * random()) * (1 - Math.exp(-hours / 9)))
  const share = (most: number): number => Math.floor(impressions * most * random())
  return { impressions, likes: share(0.04), replies: share(0.008), reposts: share(0.008), quotes: share(0.002), clicks: share(0.01) }
}
