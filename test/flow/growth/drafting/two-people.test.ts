/**
 * Two people decide the same 200 drafts at once, one of them at a server that does not own the
 * workspace: no decision is lost, none is made on a text that was not seen, and no minute is booked
 * twice.
 */
import { expect, test } from 'bun:test'
import type { TestApp } from '#test/support/app'
import { insertItems } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { joinAs } from '#test/support/people'
import { useApp, useSharedApp } from '#test/support/use'

const app = useSharedApp()
const other = useApp(() => ({ database: app.options }))

const ITEMS = 200
/** Fewer than items, so that they meet. */
const MINUTES = 60
const AT_ONCE = 6
const MINUTE_MS = 60_000

interface Seen {
  id: string
  status: string
  content_hash: string
  revision: number
  post_at: string | null
  decision: { by: { id: string }; at: string } | null
}
interface Refusal {
  reason: string
  by?: { kind: string; id: string }
  at?: string
  next_free_at?: string | null
}
/** What one item was asked, and what came of it. `error`: null if it was done. */
interface Outcome {
  person: string
  requestId: string
  id: string
  body: { expect_hash?: string; revision?: number }
  item: Seen | null
  error: Refusal | null
}

/** One person at work, at one server. Every answer is kept. */
class Decider {
  static requests = 0
  readonly outcomes: Outcome[] = []

  constructor(
    private readonly place: Pick<TestApp, 'send'>,
    private readonly key: string,
    readonly person: string,
  ) {}

  async ask(method: string, id: string, action: string, body: object = {}): Promise<Outcome> {
    const path = `items/${id}${action === '' ? '' : `/${action}`}`
    const [outcome] = await this.#send(method, path, body, (reply) => [
      { id, body, item: reply.item ?? null, error: reply.error ?? null },
    ])
    return outcome!
  }

  async bulk(action: string, items: (Outcome['body'] & { id: string })[]): Promise<Outcome[]> {
    return this.#send('POST', 'items/bulk', { action, items }, ({ results }) =>
      results!.map((result, index) => ({ ...result, body: items[index]! })),
    )
  }

  async read(id: string): Promise<Seen> {
    return (await this.place.send('GET', `items/${id}`, { key: this.key })).body.item
  }

  async #send(
    method: string,
    path: string,
    body: object,
    read: (reply: {
      item?: Seen
      error?: Refusal
      results?: Pick<Outcome, 'id' | 'item' | 'error'>[]
    }) => Pick<Outcome, 'id' | 'body' | 'item' | 'error'>[],
  ): Promise<Outcome[]> {
    const requestId = `two-people-${Decider.requests++}`
    const headers = { 'x-request-id': requestId }
    const reply = await this.place.send(method, path, { key: this.key, body, headers })
    const known = read(reply.body).map((one) => ({ ...one, requestId, person: this.person }))
    this.outcomes.push(...known)
    return known
  }
}

interface Task {
  by: Decider
  seen: Seen
  /** The draft after this one. */
  next: Seen
  post_at: string
}

/** Approves for a time; for the next free one if that is taken; anew if the text has changed. */
const book = async ({ by, seen, post_at }: Task): Promise<void> => {
  const approve = (hash: string, at: string) =>
    by.ask('POST', seen.id, 'approve', { expect_hash: hash, post_at: at, only_if_free: true })
  const { error } = await approve(seen.content_hash, post_at)
  if (error?.next_free_at) await approve(seen.content_hash, error.next_free_at)
  if (error?.reason === 'stale_text') await approve((await by.read(seen.id)).content_hash, post_at)
}

const works: ((task: Task) => Promise<unknown>)[] = [
  book,
  async (task) => {
    const { by, seen } = task
    const body = { body: `As ${by.person} has it: ${seen.id}`, revision: seen.revision }
    const { item } = await by.ask('PATCH', seen.id, '', body)
    await book({ ...task, seen: item ?? seen })
  },
  async ({ by, seen: { id } }) => {
    const { item } = await by.ask('POST', id, 'reject', { reason: 'Too loud' })
    if (item) await by.ask('POST', id, 'reopen')
  },
  async ({ by, seen: { id, content_hash }, post_at }) => {
    await by.ask('POST', id, 'approve', { expect_hash: content_hash })
    await by.ask('POST', id, 'schedule', { post_at, only_if_free: true })
  },
  ({ by, seen, next, post_at }) =>
    by.bulk(
      'approve',
      [seen, next].map(({ id, content_hash }) => ({
        id,
        expect_hash: content_hash,
        post_at,
        only_if_free: true,
      })),
    ),
]

const draftsOf = async (story: Story): Promise<Seen[]> => {
  const page = async (cursor?: string) =>
    (await story.send('GET', `items?limit=100${cursor ? `&cursor=${cursor}` : ''}`)).body
  const first = await page()
  return [...first.items, ...(await page(first.next_cursor)).items]
}

/** Both go through the drafts in the same order, and meet in all pairs of what they do. */
const decideAll = (deciders: Decider[], drafts: Seen[], start: number) =>
  Promise.all(
    deciders.map(async (by, person) => {
      const queue = drafts.map((seen, index) => ({ seen, index })).values()
      const worker = async () => {
        for (const { seen, index } of queue) {
          const work =
            works[(person === 0 ? index : Math.floor(index / works.length)) % works.length]!
          const next = drafts[(index + 1) % drafts.length]!
          const post_at = new Date(start + (index % MINUTES) * MINUTE_MS).toISOString()
          await work({ by, seen, next, post_at })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
    }),
  )

const minuteOf = (time: string): number => Math.floor(Date.parse(time) / MINUTE_MS)

/** What each operation needs of the item as the decision before it has left it. */
const isLegal: Record<string, (before: Seen, asked: Outcome['body']) => boolean> = {
  approve: ({ status, content_hash }, { expect_hash }) =>
    status === 'drafted' && content_hash === expect_hash,
  reject: ({ status }) => status === 'drafted',
  schedule: ({ status }) => status === 'approved',
  reopen: ({ status }) => status === 'approved' || status === 'rejected',
  edit: ({ revision }, asked) => revision === asked.revision,
}

test('two people at two servers decide the same drafts at once', async () => {
  const story = await newStory(app)
  const { tenantId } = story
  await insertItems(app, tenantId, { count: ITEMS, body: 'A draft' })
  const drafts = await draftsOf(story)
  expect(drafts).toHaveLength(ITEMS)
  const lena = await joinAs(app, { tenantId, role: 'approver' })
  const ben = await joinAs(app, { tenantId, role: 'approver' })
  const deciders = [
    new Decider(app, lena.access, lena.personId),
    new Decider(other, ben.access, ben.personId),
  ]
  await decideAll(deciders, drafts, Date.now() + 86_400_000)

  const outcomes = deciders.flatMap((one) => one.outcomes)
  const rows = await app.owner<{ operation: string; ref_id: string; request_id: string }[]>`
    select operation, ref_id, request_id from audit where tenant_id = ${tenantId}
      and operation like 'growth.items.%' and ref_id is not null order by id`
  const keyOf = (requestId: string, id: string) => `${requestId} ${id}`
  const done = new Map(
    outcomes.flatMap((one) => (one.error ? [] : [[keyOf(one.requestId, one.id), one] as const])),
  )
  const present = new Map(drafts.map((one) => [one.id, one]))
  const booked = new Map<number, string>()
  for (const { operation, ref_id, request_id } of rows) {
    const outcome = done.get(keyOf(request_id, ref_id))
    const before = present.get(ref_id)!
    const what = operation.replace('growth.items.', '')
    // Each was answered as done, and was allowed by what the one before it had left.
    expect([what, outcome !== undefined]).toEqual([what, true])
    const { item, body, person } = outcome!
    expect([what, before.status, isLegal[what]!(before, body)]).toEqual([what, before.status, true])
    if (what !== 'edit') expect(item!.decision?.by.id).toBe(person)
    // What was approved is what was seen.
    if (what === 'approve') expect(item!.content_hash).toBe(body.expect_hash!)
    if (before.post_at) booked.delete(minuteOf(before.post_at))
    if (item!.post_at) {
      expect(booked.get(minuteOf(item!.post_at))).toBeUndefined()
      booked.set(minuteOf(item!.post_at), ref_id)
    }
    present.set(ref_id, item!)
    done.delete(keyOf(request_id, ref_id))
  }
  // Nothing else was answered as done, but reopening what the other had opened already.
  expect([...done.values()].filter(({ item }) => item!.status !== 'drafted')).toEqual([])
  const stateOf = ({ id, status, content_hash, post_at }: Seen) => [
    id,
    status,
    content_hash,
    post_at,
  ]
  const now = new Map((await draftsOf(story)).map((one) => [one.id, stateOf(one)]))
  for (const [id, item] of present) expect(now.get(id)).toEqual(stateOf(item))

  // Who was second learned why, and who was first.
  const refusals = outcomes.flatMap(({ error }) => error ?? [])
  expect(new Set(refusals.map(({ reason }) => reason))).toEqual(
    new Set(['wrong_state', 'stale_text', 'stale_revision', 'slot_taken']),
  )
  const people = [lena.personId, ben.personId]
  for (const { reason, by, at } of refusals)
    if (reason !== 'wrong_state' || by)
      expect([reason, people.includes(by!.id), typeof at]).toEqual([reason, true, 'string'])
})
