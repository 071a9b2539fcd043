/** Attempts of earlier versions, and the unique indexes of the table. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { contentOf, type Engagement } from '#domain/growth/drafting/engagement'
import { contentHash } from '#domain/growth/drafting/item'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { type ManagedDatabase, managedDb } from '#test/support/database/managed'
import { migrateOnly } from '#test/support/database/migrations'

const ACCOUNT = 'account-1'

/**
 * A database with the migrations before this one, and a workspace with a connected account in it.
 */
const earlier = async (before: string) => {
  const database = await managedDb()
  await migrateOnly(database.options, (name) => name < `sql/${before}`)
  const sql = postgres({ ...database.root, max: 1, onnotice: () => {} })
  const [tenant, connection] = [newId(), newId()]
  await sql`insert into tenant (id, name, plan) values (${tenant}, 'Test', 'team')`
  await sql`insert into connection (id, tenant_id, network, external_id, handle, status, is_default,
    created_at, updated_at)
    values (${connection}, ${tenant}, 'sandbox', ${ACCOUNT}, 'test', 'connected', true, now(),
      now())`
  return { database, sql, tenant, connection }
}
type Earlier = Awaited<ReturnType<typeof earlier>>

/** As the owner of the tables, to whom row-level security applies. */
const bringUp = (database: ManagedDatabase) => migrate(database.options, createLog('silent'))

const newItem = async (
  { sql, tenant }: Earlier,
  body: string,
  approved = body,
): Promise<string> => {
  const [id, hash] = [newId(), contentHash(approved, ACCOUNT)]
  await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, approved_hash,
      account_external_id, created_at, updated_at)
    values (${id}, ${tenant}, 'post', 'publish_unconfirmed', ${body}, 'point', '', '', '[]', '[]',
      1, ${hash}, ${ACCOUNT}, now(), now())`
  return id
}

const newEngagement = async (
  { sql, tenant }: Earlier,
  input: { action: string; post: string; body?: string },
): Promise<string> => {
  const [id, words] = [
    newId(),
    { action: input.action, network: 'sandbox', post_id: input.post, body: input.body ?? null },
  ]
  const hash = contentHash(contentOf(words as Engagement), ACCOUNT)
  await sql`insert into engagement ${sql({
    ...{
      id,
      tenant_id: tenant,
      ...words,
      status: 'execute_unconfirmed',
      approved_hash: hash,
      account_external_id: ACCOUNT,
    },
    ...{ created_at: new Date(), updated_at: new Date() },
  })}`
  return id
}

const attemptOf = ({ tenant, connection }: Earlier, fields: Record<string, unknown>) => ({
  ...{
    id: newId(),
    tenant_id: tenant,
    connection_id: connection,
    number: 1,
    body_sha: newId(),
    origin: 'manual',
    state: 'doubt',
  },
  ...{ intent_at: new Date(), lease_until: new Date(), ...fields },
})

describe('attempts from before texts were kept', () => {
  const text =
    'Tabs\t, "quotes", \\, \u0001, \u007f, \u2028, 🚢 and lines\r\n\nof it. https://example.com/notes'
  const words = 'Each says "hello" \\ \n once.'
  let before: Earlier
  beforeAll(async () => {
    before = await earlier('000026')
  })
  afterAll(async () => {
    await before.sql.end()
    await before.database[Symbol.asyncDispose]()
  })

  test('take the text from records that still hold the approved one, and from no others', async () => {
    const { sql, database } = before
    const [kept, changed] = [
      await newItem(before, text),
      await newItem(before, 'Nobody approved this.', 'This was approved.'),
    ]
    const reply = await newEngagement(before, { action: 'reply', post: 'p1', body: words })
    for (const item_id of [kept, changed])
      await sql`insert into attempt ${sql(attemptOf(before, { item_id }))}`
    await sql`insert into engagement_attempt ${sql(attemptOf(before, { engagement_id: reply }))}`
    await bringUp(database)
    const sent = await sql`select coalesce(item_id, engagement_id) as id, sent_text from attempt`
    expect(Object.fromEntries(sent.map(({ id, sent_text }) => [id, sent_text]))).toEqual({
      [kept]: text,
      [changed]: null,
      [reply]: words,
    })
  })
})

describe('attempts of posts and of engagements in tables of their own', () => {
  const doubt = { doubt_at: new Date(), doubt_cause: 'no_answer', error: 'timeout' }
  const states = {
    open: { state: 'open', lease_until: new Date(Date.now() + 20_000) },
    doubt: { state: 'doubt', clean_reads: 2, ...doubt },
    review: { state: 'review', clean_reads: 3, ...doubt },
    superseded: { state: 'superseded', clean_reads: 1, ...doubt, ended_at: new Date() },
    posted: { state: 'posted', ...doubt, external_id: 'post-1', ended_at: new Date() },
  }
  let before: Earlier
  const expected: Record<string, unknown>[] = []
  let moved: Record<string, unknown>[]
  beforeAll(async () => {
    before = await earlier('000028')
    const { sql, database } = before
    for (const [name, fields] of Object.entries(states)) {
      const item_id = await newItem(before, `Post ${name}`)
      const engagement_id = await newEngagement(before, {
        action: 'reply',
        post: name,
        body: 'Thanks!',
      })
      const proof = { returns_from: new Date(), proof_reads: 2 }
      const post = attemptOf(before, { item_id, sent_text: `Post ${name}`, ...proof, ...fields })
      // The same words to several people, and in the end the same post under two actions.
      const answer = attemptOf(before, {
        engagement_id,
        sent_text: 'Thanks!',
        ...fields,
        body_sha: 'thanks',
      })
      await sql`insert into attempt ${sql(post)}`
      await sql`insert into engagement_attempt ${sql(answer)}`
      expected.push({ sendable: 'post', engagement_id: null, ...post })
      expected.push({
        sendable: 'engagement',
        item_id: null,
        returns_from: null,
        proof_reads: 0,
        ...answer,
      })
    }
    await bringUp(database)
    moved = await sql`select * from attempt`
  })
  afterAll(async () => {
    await before.sql.end()
    await before.database[Symbol.asyncDispose]()
  })

  const refused = (fields: Record<string, unknown>) =>
    before.sql`insert into attempt ${before.sql(attemptOf(before, fields))}`.then(
      () => undefined,
      (cause: { constraint_name?: string }) => cause.constraint_name,
    )
  const recordOf = (sendable: string, state: string) =>
    expected.find((one) => one.sendable === sendable && one.state === state) as Record<
      string,
      string
    >

  test('are in one table, unchanged', () => {
    expect(moved).toHaveLength(expected.length)
    for (const one of expected) expect(moved.find(({ id }) => id === one.id)).toMatchObject(one)
  })

  test.each(['open', 'doubt', 'review'])(
    'a record with an attempt in %s has no second one',
    async (state) => {
      const { item_id } = recordOf('post', state)
      expect(await refused({ sendable: 'post', item_id, number: 2, state: 'open' })).toBe(
        'attempt_open_of_item',
      )
      const { engagement_id } = recordOf('engagement', state)
      expect(
        await refused({ sendable: 'engagement', engagement_id, number: 2, state: 'open' }),
      ).toBe('attempt_open_of_engagement')
    },
  )

  test('a superseded attempt makes room for the next number', async () => {
    const { item_id } = recordOf('post', 'superseded')
    expect(await refused({ sendable: 'post', item_id })).toBe('attempt_number_of_item')
    expect(await refused({ sendable: 'post', item_id, number: 2 })).toBeUndefined()
    const { engagement_id } = recordOf('engagement', 'superseded')
    expect(await refused({ sendable: 'engagement', engagement_id })).toBe(
      'attempt_number_of_engagement',
    )
    expect(await refused({ sendable: 'engagement', engagement_id, number: 2 })).toBeUndefined()
  })

  test('an account cannot have two doubts about one text, and one post cannot belong to two items', async () => {
    const item_id = await newItem(before, 'Once more')
    const { body_sha } = recordOf('post', 'doubt')
    expect(await refused({ sendable: 'post', item_id, body_sha })).toBe('attempt_same_text')
    expect(
      await refused({ sendable: 'post', item_id, state: 'posted', external_id: 'post-1' }),
    ).toBe('attempt_post')
  })

  test('two people can be thanked in the same words at once, and one post can be liked and reposted', async () => {
    const engaged = async (action: string, body?: string) =>
      newEngagement(before, {
        action,
        post: action === 'reply' ? newId() : 'p1',
        ...(body ? { body } : {}),
      })
    for (const engagement_id of [
      await engaged('reply', 'Thanks!'),
      await engaged('reply', 'Thanks!'),
    ])
      expect(
        await refused({ sendable: 'engagement', engagement_id, body_sha: 'thanks' }),
      ).toBeUndefined()
    for (const engagement_id of [await engaged('like'), await engaged('repost')])
      expect(
        await refused({
          sendable: 'engagement',
          engagement_id,
          state: 'posted',
          external_id: 'p1',
        }),
      ).toBeUndefined()
  })

  test('an attempt belongs to one record of its own kind', async () => {
    const [item_id, engagement_id] = [
      await newItem(before, 'Alone'),
      await newEngagement(before, { action: 'like', post: 'alone' }),
    ]
    expect(await refused({ sendable: 'post', item_id, engagement_id })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'engagement', item_id })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'post' })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'engagement', engagement_id, state: 'returned' })).toBe(
      'attempt_returned',
    )
  })
})
