/** How much room stored answers may take: each of them, and all of a workspace. */
import { describe, expect, test } from 'bun:test'
import { newId, randomBase62 } from '#kernel/ids'
import { bytesStored, MOST_STORED_BYTES, weightOf } from '#store/engine/idempotency'
import { eventually, testApp } from '#test/support/app'
import { setUsed } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const app = useApp()
const other = useApp(() => ({ database: app.options }))

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

/** A profile with a long and repetitive answer. */
const longProfile = {
  writing_dna: {
    stories: Array.from(
      { length: 40 },
      (_, n) => `Story ${n}. ${'Every delay starts at the dock, I said. '.repeat(40)}`,
    ),
  },
}

interface Row {
  key: string
  stored: number
}

const rowsOf = ({ tenantId }: Story): Promise<Row[]> =>
  app.owner<
    Row[]
  >`select key, octet_length(body) as stored from idempotency where tenant_id = ${tenantId}
    order by key`

/** The total that the gate uses, and the sum of what the rows count. */
const totals = async ({ tenantId }: Story): Promise<{ counted: number; kept: number }> => {
  const [row] = await app.owner<{ counted: number; kept: number }[]>`select
    coalesce((select used from counter where tenant_id = ${tenantId} and key = 'answers'), 0) as
      counted,
    (select coalesce(sum(counted), 0)::int from idempotency where tenant_id = ${tenantId}) as kept`
  return row!
}

const learn = (story: Story, key?: string) =>
  story.send('POST', 'learnings', {
    body: { kind: 'worked', note: `Open with ${newId()}` },
    ...(key ? keyed(key) : {}),
  })

const learnings = async ({ tenantId }: Story): Promise<number> =>
  (await app.owner`select 1 from learning where tenant_id = ${tenantId}`).length

/** Rows that fill the workspace's limit, the oldest of which expire in one hour and in two. */
const fill = ({ tenantId }: Story) =>
  app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status, body,
    counted, expires_at)
    select ${tenantId}, 'filler ' || n, 'test', 'none', 'done', 200,
      repeat('x', ${MOST_STORED_BYTES / 4}), ${MOST_STORED_BYTES / 4 + 256}::int,
      now() + n * interval '1 hour'
    from generate_series(1, 4) n`

test('an answer over 4 KiB is stored compressed, and is replayed byte for byte', async () => {
  const story = await newStory(app)
  const put = () => story.send('PUT', 'profile', { body: longProfile, ...keyed('long') })
  const first = await put()
  expect([first.status, first.text.length > 50_000]).toEqual([200, true])
  const [row] = await rowsOf(story)
  expect(row!.stored).toBeLessThan(first.text.length / 10)
  const again = await put()
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
})

test('a short answer is stored as it is', async () => {
  const story = await newStory(app)
  const { text } = await learn(story, 'short')
  const [row] =
    await app.owner`select encoding, body from idempotency where tenant_id = ${story.tenantId}`
  expect([row!.encoding, row!.body]).toEqual(['text', text])
})

test('of short answers one in sixteen counts, sixteen times; a long one counts in full', async () => {
  const draws = [...'0123456789abcdef'].map(
    (digit) => `01a202e9-a90d-7474-9303-bd9fde2fe1f${digit}`,
  )
  const weights = (bytes: number) => draws.map((draw) => weightOf(bytes, draw))
  expect(weights(4_096).toSorted((one, other) => other - one)).toEqual([16, ...Array(15).fill(0)])
  expect(weights(4_097)).toEqual(Array(16).fill(1))
  const story = await newStory(app)
  await Promise.all(Array.from({ length: 20 }, (_, n) => learn(story, `key ${n}`)))
  await story.send('PUT', 'profile', {
    body: { writing_dna: { stories: Array.from({ length: 8 }, () => randomBase62(1_500)) } },
    ...keyed('long'),
  })
  const rows = await app.owner<{ key: string; counted: number; bytes: number }[]>`
    select key, counted, 256 + octet_length(key) + octet_length(body) as bytes from idempotency
      where tenant_id = ${story.tenantId}`
  expect(rows).toHaveLength(21)
  for (const { key, counted, bytes } of rows)
    expect(key === 'long' ? [bytes] : [0, 16 * bytes]).toContain(counted)
  expect((await totals(story)).counted).toBeGreaterThan(8_000)
})

test('the total equals what the rows count, whatever adds, changes or removes answers', async () => {
  const story = await newStory(app)
  await Promise.all(Array.from({ length: 20 }, (_, n) => learn(story, `key ${n}`)))
  await app.owner`update idempotency set counted = 700 where tenant_id = ${story.tenantId}`
  const id = await story.approved()
  await story.send('POST', `items/${id}/post-now`, keyed('post'))
  expect((await rowsOf(story)).length).toBe(21)
  await app.owner`update idempotency set expires_at = now() - interval '1 second'
    where tenant_id = ${story.tenantId} and key = 'key 3'`
  await learn(story, 'key 3')
  await story.send('PUT', 'profile', { body: longProfile, ...keyed('long') })
  await story.send('POST', `items/${id}/approve`, keyed('refused'))
  const { counted, kept } = await totals(story)
  expect(counted).toBe(kept)
  expect(counted).toBeGreaterThanOrEqual(19 * 700)
  await app.owner`delete from idempotency where tenant_id = ${story.tenantId} and key like 'key %'`
  const left = await totals(story)
  expect(left.counted).toBe(left.kept)
  expect(left.counted).toBeLessThanOrEqual(counted - 19 * 700)
})

describe('a workspace with 256 MiB of stored answers', () => {
  test('has new keyed commands refused before they run until the oldest answer expires', async () => {
    const story = await newStory(app)
    const before = await learn(story, 'before')
    await fill(story)
    expect(bytesStored({ 'answers@bytes': (await totals(story)).counted })).toBeGreaterThan(
      MOST_STORED_BYTES,
    )
    const refused = await learn(story, 'after')
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:idempotency'])
    const wait = Number(refused.headers.get('retry-after'))
    expect([wait > 3_500, wait <= 3_600]).toEqual([true, true])
    expect(await learnings(story)).toBe(1)
    expect((await learn(story)).status).toBe(201)
    expect(
      (await story.send('POST', 'learnings', { body: before.body, ...keyed('before') })).body.error
        ?.code,
    ).not.toBe('rate_limited')
  })

  test('still replays, pauses, disconnects and posts under keys', async () => {
    const story = await newStory(app)
    const id = await story.approved()
    const put = () =>
      story.send('PUT', 'profile', { body: { goal: 'Book demos' }, ...keyed('put') })
    const first = await put()
    await fill(story)
    expect((await put()).text).toBe(first.text)
    const exempt = ['automation/pause-all', `items/${id}/post-now`]
    for (const path of exempt) {
      const answer = await story.send('POST', path, keyed(path))
      expect([path, answer.status]).toEqual([path, 200])
      expect((await story.send('POST', path, keyed(path))).text).toBe(answer.text)
    }
    expect((await story.send('DELETE', 'connection', keyed('disconnect'))).status).toBe(200)
    expect(
      (await story.send('DELETE', 'connection', keyed('disconnect'))).headers.get(
        'idempotency-replayed',
      ),
    ).toBe('true')
  })

  test('has room again as soon as the oldest answer has expired, and keeps the others', async () => {
    const story = await newStory(app)
    await fill(story)
    expect((await learn(story, 'one')).status).toBe(429)
    await app.owner`update idempotency set expires_at = now() - interval '1 second'
      where tenant_id = ${story.tenantId} and key = 'filler 1'`
    const admitted = await learn(story, 'one')
    expect(admitted.status).toBe(201)
    expect((await rowsOf(story)).map(({ key }) => key)).toEqual([
      'filler 2',
      'filler 3',
      'filler 4',
      'one',
    ])
    const { counted, kept } = await totals(story)
    expect(counted).toBe(kept)
  })

  test('does not store answers to pause-all without end', async () => {
    const story = await newStory(app)
    await fill(story)
    await setUsed(app, story.tenantId, { key: 'answers', used: 2 * MOST_STORED_BYTES })
    for (const key of ['one', 'two'])
      expect((await story.send('POST', 'automation/pause-all', keyed(key))).status).toBe(200)
    expect((await rowsOf(story)).map(({ key }) => key)).not.toContain('one')
  })

  test('runs commands without a key on every process, and keeps their answers for minutes only', async () => {
    const story = await newStory(app)
    await learn(story)
    await fill(story)
    const elsewhere = story.at(other)
    expect((await learn(elsewhere)).status).toBe(201)
    expect((await learn(elsewhere, 'keyed')).status).toBe(429)
    const [own] = await app.owner`select extract(epoch from expires_at - created_at)::int as seconds
        from idempotency
      where tenant_id = ${story.tenantId} and key not like 'filler %'`
    expect(own!.seconds).toBe(600)
  })

  test('takes no room from other workspaces', async () => {
    const [full, free] = [await newStory(app), await newStory(app)]
    await fill(full)
    expect([(await learn(full, 'one')).status, (await learn(free, 'one')).status]).toEqual([
      429, 201,
    ])
  })
})

test('the key of a post that never went out is free again and counts no more', async () => {
  await using failing = await testApp({ database: app.options, env: { SANDBOX_FAULTS: '429=1' } })
  const story = await newStory(failing)
  const id = await story.approved()
  const refused = await story.send('POST', `items/${id}/post-now`, keyed('fails'))
  expect(refused.body.error?.message).toBe('rate_limited:network')
  expect(
    await eventually(
      () => totals(story),
      ({ kept }) => kept === 0,
    ),
  ).toEqual({ counted: 0, kept: 0 })
})
