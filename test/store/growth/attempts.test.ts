/** The unique indexes of the table of attempts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { contentOf, type Engagement } from '#domain/growth/drafting/engagement'
import { contentHash } from '#domain/growth/drafting/item'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const ACCOUNT = 'account-1'

/** A workspace with a connected account. */
interface Place {
  sql: postgres.Sql
  tenant: string
  connection: string
}

const arrange = async (sql: postgres.Sql): Promise<Place> => {
  const [tenant, connection] = [newId(), newId()]
  await sql`insert into tenant (id, name, plan) values (${tenant}, 'Test', 'team')`
  await sql`insert into connection (id, tenant_id, network, external_id, handle, status, is_default,
    created_at, updated_at)
    values (${connection}, ${tenant}, 'sandbox', ${ACCOUNT}, 'test', 'connected', true, now(),
      now())`
  return { sql, tenant, connection }
}

const newItem = async ({ sql, tenant }: Place, body: string): Promise<string> => {
  const [id, hash] = [newId(), contentHash(body, ACCOUNT)]
  await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, approved_hash,
      account_external_id, created_at, updated_at)
    values (${id}, ${tenant}, 'post', 'publish_unconfirmed', ${body}, 'point', '', '', '[]', '[]',
      1, ${hash}, ${ACCOUNT}, now(), now())`
  return id
}

const newEngagement = async (
  { sql, tenant }: Place,
  input: { action: string; post: string; body?: string },
): Promise<string> => {
  const [id, words] = [
    newId(),
    { action: input.action, network: 'sandbox', post_id: input.post, body: input.body ?? null },
  ]
  const hash = contentHash(contentOf(words as Engagement), ACCOUNT)
  await sql`insert into engagement ${sql({
    id,
    tenant_id: tenant,
    ...words,
    status: 'execute_unconfirmed',
    approved_hash: hash,
    account_external_id: ACCOUNT,
    created_at: new Date(),
    updated_at: new Date(),
  })}`
  return id
}

const attemptOf = ({ tenant, connection }: Place, fields: Record<string, unknown>) => ({
  id: newId(),
  tenant_id: tenant,
  connection_id: connection,
  number: 1,
  body_sha: newId(),
  origin: 'manual',
  state: 'doubt',
  intent_at: new Date(),
  lease_until: new Date(),
  ...fields,
})

describe('attempts of posts and of engagements', () => {
  const doubt = { doubt_at: new Date(), doubt_cause: 'no_answer', error: 'timeout' }
  const states = {
    open: { state: 'open', lease_until: new Date(Date.now() + 20_000) },
    doubt: { state: 'doubt', clean_reads: 2, ...doubt },
    review: { state: 'review', clean_reads: 3, ...doubt },
    superseded: { state: 'superseded', clean_reads: 1, ...doubt, ended_at: new Date() },
    posted: { state: 'posted', ...doubt, external_id: 'post-1', ended_at: new Date() },
  }
  const database = use(freshDb)
  let place: Place
  const made: Record<string, unknown>[] = []
  beforeAll(async () => {
    place = await arrange(postgres({ ...database.options, max: 1, onnotice: () => {} }))
    const { sql } = place
    for (const [name, fields] of Object.entries(states)) {
      const item_id = await newItem(place, `Post ${name}`)
      const engagement_id = await newEngagement(place, {
        action: 'reply',
        post: name,
        body: 'Thanks!',
      })
      const post = attemptOf(place, { item_id, sendable: 'post', sent_text: name, ...fields })
      // The same words to several people, and in the end the same post under two actions.
      const answer = attemptOf(place, {
        engagement_id,
        sendable: 'engagement',
        sent_text: 'Thanks!',
        ...fields,
        body_sha: 'thanks',
      })
      for (const attempt of [post, answer]) await sql`insert into attempt ${sql(attempt)}`
      made.push(post, answer)
    }
  })
  afterAll(() => place.sql.end())

  const refused = (fields: Record<string, unknown>) =>
    place.sql`insert into attempt ${place.sql(attemptOf(place, fields))}`.then(
      () => undefined,
      (cause: { constraint_name?: string }) => cause.constraint_name,
    )
  const recordOf = (sendable: string, state: string) =>
    made.find((one) => one.sendable === sendable && one.state === state) as Record<string, string>

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
    const item_id = await newItem(place, 'Once more')
    const { body_sha } = recordOf('post', 'doubt')
    expect(await refused({ sendable: 'post', item_id, body_sha })).toBe('attempt_same_text')
    expect(
      await refused({ sendable: 'post', item_id, state: 'posted', external_id: 'post-1' }),
    ).toBe('attempt_post')
  })

  test('two people can be thanked in the same words at once, and one post can be liked and reposted', async () => {
    const engaged = async (action: string, body?: string) =>
      newEngagement(place, {
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
      await newItem(place, 'Alone'),
      await newEngagement(place, { action: 'like', post: 'alone' }),
    ]
    expect(await refused({ sendable: 'post', item_id, engagement_id })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'engagement', item_id })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'post' })).toBe('attempt_of_its_kind')
    expect(await refused({ sendable: 'engagement', engagement_id, state: 'returned' })).toBe(
      'attempt_returned',
    )
  })
})
