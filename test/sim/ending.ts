/** What must hold when a history is over. */
import type { Item } from '#domain/growth/drafting/item'
import { fingerprintText } from '#port/network/text'
import { type StateName, stateName } from '#test/domain/records'
import { checkEngagements, isEngagementAtRest } from './engaging.ts'
import { count, must, type World } from './world.ts'

const RESTING: StateName[] = [
  'drafted',
  'approved',
  'posted',
  'rejected',
  'publish_failed',
  'in review',
]

/** Posts of the item's own sends that no attempt is known to have made. */
const unclaimed = (world: World, id: string) => {
  const taken = new Set([...world.memory.attempts.values()].map((attempt) => attempt.external_id))
  return world.posts.filter((post) => post.itemId === id && !taken.has(post.externalId))
}

const isSettled = (world: World, item: Item): boolean => {
  const state = stateName(item)
  return (
    RESTING.includes(state) && (state !== 'in review' || unclaimed(world, item.id).length === 0)
  )
}

/** Nothing is left for the machine to do about any item. */
export const isAtRest = (world: World): boolean =>
  [...world.memory.items.values()].every((item) => isSettled(world, item)) &&
  [...world.memory.engagements.values()].every((one) => isEngagementAtRest(world, one)) &&
  [...world.memory.works.values()].every(
    ({ kind, state, payload }) => kind === 'reconcile' && state === 'queued' && !payload.again,
  )

/** A post with another text than the item has now says so, if nothing else had to be said since. */
const checkSaid = (world: World, { id, body, external_id, last_error }: Item): void => {
  const own = [...world.memory.attempts.values()].find(
    (one) => one.record_id === id && one.external_id === external_id,
  )
  const isOther = own !== undefined && own.sent_text !== body
  if (isOther) count(world, 'posted before edit')
  must(
    world,
    !isOther || last_error !== null,
    `${id}: posted with an earlier text, and nothing says so`,
  )
}

const checkPosted = (world: World, item: Item): void => {
  if (world.marked.has(item.id)) return
  checkSaid(world, item)
  const post = world.posts.find(({ externalId }) => externalId === item.external_id)
  // By what went out: somebody may have changed the item since.
  const sent = [...world.memory.attempts.values()]
    .filter(({ record_id }) => record_id === item.id)
    .map(({ sent_text }) => sent_text!)
  const isOurs =
    post?.account === item.account_external_id &&
    sent.some((text) => fingerprintText(text) === fingerprintText(post.text))
  must(world, isOurs, `${item.id}: posted, but not on the network`)
  // Of posts of one text nobody can tell whose they are; but of its own there must be one, or one
  // made by hand.
  const isSame = ({ account, text }: { account: string; text: string }) =>
    account === post?.account && text === post.text
  const isPossible = world.posts.some(
    (one) => isSame(one) && (one.itemId === item.id || one.itemId === null),
  )
  must(world, isPossible, `${item.id}: posted by the post of another item`)
}

const eventsOf = ({ memory }: World, type: string, id: string): number =>
  memory.events.filter((event) => event.type === type && event.data.item_id === id).length

/** The history is over, and the machine has had all the time it needs. */
export const checkEnd = (world: World): void => {
  checkEngagements(world)
  for (const [id, item] of world.memory.items) {
    const state = stateName(item)
    must(
      world,
      isSettled(world, item),
      `${id}: left ${state}, with ${unclaimed(world, id).length} posts of its own on the network`,
    )
    if (state === 'posted') checkPosted(world, item)
    else
      must(
        world,
        world.posts.every((post) => post.itemId !== id),
        `${id}: on the network, but ${state}`,
      )
    const posted = eventsOf(world, 'growth.item.posted', id)
    must(
      world,
      posted === (state === 'posted' ? 1 : 0),
      `${id}: ${posted} events growth.item.posted, being ${state}`,
    )
    const attempts = [...world.memory.attempts.values()].filter(({ record_id }) => record_id === id)
    const open = attempts.filter((one) => ['open', 'doubt', 'review'].includes(one.state))
    must(
      world,
      open.length === (state === 'in review' ? 1 : 0),
      `${id}: ${open.length} attempts are open, being ${state}`,
    )
    // Once more for each send that a person allowed, for a post of a returned attempt beside that
    // of the next, and for one that has another text than its item has now.
    const made = attempts.filter((one) => one.state === 'posted')
    const twice = Math.max(0, made.length - 1)
    const edited = made.filter(({ sent_text }) => sent_text !== item.body).length
    const looks =
      1 + twice + edited + attempts.filter(({ id: attempt }) => world.permitted.has(attempt)).length
    must(
      world,
      eventsOf(world, 'growth.approval.requested', id) <= looks,
      `${id}: a person was asked to look more than once`,
    )
  }
  const owned = [...world.memory.items.values()].flatMap(({ external_id }) => external_id ?? [])
  must(world, new Set(owned).size === owned.length, 'two items own one post')
}
