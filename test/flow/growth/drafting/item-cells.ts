/**
 * Items in every state, and everything that can be asked of them. What comes of each stands in
 * test/data/item-matrix.json.
 */
import { expect } from 'bun:test'
import type { TestFailpoints } from '#test/support/actors/failpoints'
import type { Reply } from '#test/support/app'
import { settleForReview } from '#test/support/database/writes'
import { inMs, type Place, type Story } from '#test/support/growth/story'
import type { Unreliable } from '#test/support/growth/unreliable'

/** Long enough that a repetition of it is told of. */
const TEXT =
  'Every delay starts at the dock. We counted eleven of fourteen late parcels that had waited there for a van.'
const LATER = 3_600_000

export interface Stage {
  place: Place
  points: TestFailpoints
  network: Unreliable
}

/** Brings a new item to a state. `at`: what it is done with. */
type Arrange = (story: Story, id: string, at: Stage) => Promise<unknown>

const done = async (pending: Promise<Reply<unknown>>): Promise<void> => {
  const reply = await pending
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
}
const post = (story: Story, id: string, what: string, body?: object) =>
  done(story.send('POST', `items/${id}/${what}`, body ? { body } : {}))
const approved: Arrange = (story, id) => post(story, id, 'approve')
const due = (story: Story, id: string) => post(story, id, 'approve', { post_at: inMs(0) })

/** Before a post's point of no return, and after it. */
export const HELD_AT = ['send.claimed', 'sandbox.received'] as const

/** On its way, and held at this point. */
const heldAt =
  (point: (typeof HELD_AT)[number]): Arrange =>
  async (story, id, { points }) => {
    points.arm(point, 'hang')
    await due(story, id)
    await points.reached(point)
  }

const unconfirmed: Arrange = async (story, id, { network }) => {
  network.answers.set(TEXT, async () => ({
    kind: 'unknown',
    reason: 'timeout',
    cause: 'no_answer',
  }))
  await due(story, id)
  await story.settled(id, 'publish_unconfirmed')
}

export const states = {
  drafted: async () => {},
  approved,
  scheduled: (story, id) => post(story, id, 'approve', { post_at: inMs(LATER) }),
  /** Publishing, and still to be had back. */
  claimed: heldAt('send.claimed'),
  /** Publishing, and past the point of no return. */
  sent: heldAt('sandbox.received'),
  posted: async (story, id, at) => {
    await approved(story, id, at)
    await post(story, id, 'post-now')
  },
  rejected: (story, id) => post(story, id, 'reject'),
  publish_failed: async (story, id, { network }) => {
    network.answers.set(TEXT, async () => ({ kind: 'refused', reason: 'the account is suspended' }))
    await due(story, id)
    await story.settled(id, 'publish_failed')
  },
  publish_unconfirmed: unconfirmed,
  review: async (story, id, at) => {
    await unconfirmed(story, id, at)
    await settleForReview(at.place, id)
  },
  deleted: (story, id) => done(story.send('DELETE', `items/${id}`)),
} satisfies Record<string, Arrange>

export type State = keyof typeof states

interface Ask {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path?: string
  body?: object
  /** The action that does the same to many, with what it takes of each. */
  bulk?: { action: string; entry?: object }
}

/** Everything that can be asked of one item. */
export const operations = {
  'edit text': { method: 'PATCH', body: { body: 'Nothing is late that has left the dock.' } },
  'edit tags': {
    method: 'PATCH',
    body: { tags: ['launch'] },
    bulk: { action: 'tag', entry: { tags: ['launch'] } },
  },
  approve: { path: '/approve', bulk: { action: 'approve' } },
  'approve with a time': {
    path: '/approve',
    body: { post_at: inMs(LATER) },
    bulk: { action: 'approve', entry: { post_at: inMs(LATER) } },
  },
  reject: { path: '/reject', bulk: { action: 'reject' } },
  schedule: {
    path: '/schedule',
    body: { post_at: inMs(LATER) },
    bulk: { action: 'schedule', entry: { post_at: inMs(LATER) } },
  },
  unschedule: { path: '/unschedule', bulk: { action: 'unschedule' } },
  'post now': { path: '/post-now' },
  'mark posted': { path: '/posted' },
  reopen: { path: '/reopen', bulk: { action: 'reopen' } },
  redraft: { path: '/redraft', body: { hint: 'shorter' } },
  delete: { method: 'DELETE', bulk: { action: 'delete' } },
  restore: { path: '/restore' },
  duplicate: { path: '/duplicate' },
  comment: { path: '/comments', body: { body: 'Which dock?' } },
  comments: { method: 'GET', path: '/comments' },
  revisions: { method: 'GET', path: '/revisions' },
  get: { method: 'GET' },
} satisfies Record<string, Ask>

export type Operation = keyof typeof operations

interface Answer {
  status: number
  item?: { id: string; warnings: { code: string }[] } | null
  error?: { code: string; details?: { path: string; message: string }[] } | null
}

const one = async (
  story: Story,
  id: string,
  { method = 'POST', path = '', body }: Ask,
): Promise<Answer> => {
  const reply = await story.send(method, `items/${id}${path}`, body ? { body } : {})
  return { status: reply.status, ...reply.body }
}

const statuses: Record<string, number> = { not_found: 404, conflict: 409 }

/** The same, as the answer of the operation on one item would be. */
const many = async (
  story: Story,
  id: string,
  { action, entry }: NonNullable<Ask['bulk']>,
): Promise<Answer> => {
  const { item } = (await story.send('GET', `items/${id}`)).body
  const seen = action === 'approve' ? { expect_hash: item?.content_hash ?? '0'.repeat(64) } : {}
  const { results } = (
    await story.send('POST', 'items/bulk', { body: { action, items: [{ id, ...entry, ...seen }] } })
  ).body
  return { ...results[0], status: results[0].error ? statuses[results[0].error.code] : 200 }
}

/**
 * Where an item stands, in the words of `states`; both kinds of publishing are one to those who
 * look.
 */
const standing = async (story: Story, id: string): Promise<string> => {
  const { status, body } = await story.send('GET', `items/${id}`)
  if (status === 404) return 'deleted'
  const { item } = body
  if (item.review) return 'review'
  return item.status === 'approved' && item.post_at ? 'scheduled' : item.status
}

/** A request for many items has a row of its own, whatever comes of it. */
const auditRows = async ({ owner }: Place, { tenantId }: Story): Promise<number> =>
  (
    await owner`select 1 from audit where tenant_id = ${tenantId}
      and operation <> 'growth.items.bulk'`
  ).length

/** A new item brought to a state, beside an approved one with the same text. */
export const itemIn = async (story: Story, state: State, at: Stage): Promise<string> => {
  const texts = [
    await story.send('POST', 'items', { body: { body: TEXT } }),
    await story.send('POST', 'items', { body: { body: TEXT } }),
  ]
  const [other, own] = texts.map(({ body }) => body.item.id as string)
  await post(story, other!, 'approve')
  await states[state](story, own!, at)
  return own!
}

/**
 * What a refusal names beside its code: the operation that leads on, or whatever its other details
 * are about.
 */
const leads = ({ details = [] }: NonNullable<Answer['error']>): string[] =>
  details.map(({ path, message }) =>
    path === 'next' ? `→ ${message.split(' ')[0]!.split('.').pop()}` : path,
  )

/**
 * What comes of it, in a line: the status of the answer; of a refusal, what leads on; else the
 * state afterwards or `same`, `warned` if the answer warns, `silent` if a command left no audit
 * row, and the events. Throws if a refusal changed or told anything.
 */
export const cell = async (
  story: Story,
  place: Place,
  { id, operation, bulk }: { id: string; operation: Operation; bulk: boolean },
) => {
  const look = async () => ({
    is: await standing(story, id),
    events: await story.events(),
    rows: await auditRows(place, story),
  })
  const before = await look()
  const ask: Ask = operations[operation]
  const { status, item, error } = bulk
    ? await many(story, id, ask.bulk!)
    : await one(story, id, ask)
  const after = await look()
  if (error) {
    expect(after).toEqual(before)
    return [status, ...leads(error)].join(' ')
  }
  const isSilent = ask.method !== 'GET' && after.rows === before.rows
  const told = [
    ...(item && item.warnings.length > 0 ? ['warned'] : []),
    ...(isSilent ? ['silent'] : []),
  ]
  return [
    status,
    after.is === before.is ? 'same' : after.is,
    ...told,
    ...after.events.slice(before.events.length),
  ].join(' ')
}
