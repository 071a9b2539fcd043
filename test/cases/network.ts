/** What every network adapter must do, in one suite that runs against each. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { countNames } from '#contract/records/growth/item'
import { newId } from '#kernel/ids'
import { measures } from '#port/network/measures'
import {
  MOST_MEASURED,
  type Network,
  type NetworkAccount,
  NetworkError,
  type PublishRequest,
  type PublishResult,
} from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import { sociableCases } from './sociable.ts'

/** A healthy network, with two accounts without posts. */
export interface NetworkCase extends AsyncDisposable {
  network: Network
  account: NetworkAccount
  other: NetworkAccount
}

export const EVER = new Date(0)
const DEADLINE_MS = 10_000

export const never = (): AbortSignal => new AbortController().signal

/** The key of an approval, where the network has keys. */
export const keyFor = ({ keys }: Network, approval = newId()): string | null =>
  keys?.keyOf({
    at: new Date(Math.floor(Date.now() / 60_000) * 60_000),
    digest: createHash('sha256').update(approval).digest(),
  }) ?? null

const request = (
  { network, account }: Pick<NetworkCase, 'network' | 'account'>,
  text: string,
): PublishRequest => ({
  account,
  text,
  attemptId: newId(),
  key: keyFor(network),
  madeAt: new Date(),
  deadlineMs: DEADLINE_MS,
})

const publish = (it: NetworkCase, text: string): Promise<PublishResult> =>
  it.network.publish(request(it, text), never())

export const post = async (it: NetworkCase, text: string): Promise<string> => {
  const result = await publish(it, text)
  if (result.kind !== 'posted') throw new Error(`not posted: ${JSON.stringify(result)}`)
  return result.externalId
}

const timeline = ({ network, account }: NetworkCase, since = EVER) =>
  network.readTimeline(account, since, never())

const publishing = (open: () => Promise<NetworkCase>): void => {
  test('a published post is in the timeline, with the id of the answer and the same text', async () => {
    await using it = await open()
    const before = Date.now()
    const externalId = await post(it, 'Hello from the other side.')
    const { posts, complete } = await timeline(it)
    expect(complete).toBe(true)
    expect(posts).toMatchObject([
      { externalId, text: 'Hello from the other side.', truncated: false },
    ])
    expect(Math.abs((posts[0]?.createdAt.getTime() ?? 0) - before)).toBeLessThan(60_000)
  })

  test.each([
    ['several lines', 'First line\n\n  Second line, indented\nThird'],
    ['other scripts and emoji', 'Naïve café, 東京タワー, مرحبا 👩‍👩‍👧‍👦🇪🇺'],
    ['a link', 'Read https://example.com/a_(b)?c=d#e, then example.org.'],
    [
      'quotes and markup',
      `It's "5 < 6 && 7 > 6" — \\n is not a line break; 100% $1 {x} <b>bold</b>`,
    ],
    ['decomposed letters', 'Cafe\u0301 de\u0301ja\u0300 vu'],
  ])('a text of %s can be recognised again', async (_name, text) => {
    await using it = await open()
    await post(it, text)
    const { posts } = await timeline(it)
    expect(posts.map((found) => fingerprintText(found.text))).toEqual([fingerprintText(text)])
  })

  test("its measure is in the table where the drafter's worker looks for it", async () => {
    await using it = await open()
    expect(Object.values(measures)).toContain(it.network.limits.measure)
  })

  test('the longest post by its own measure is published; a longer one is refused and leaves nothing', async () => {
    await using it = await open()
    const { maxLength, measure } = it.network.limits
    const longest = 'x'.repeat(maxLength)
    expect(measure(longest)).toBe(maxLength)
    const externalId = await post(it, longest)
    expect(await publish(it, `${longest}y`)).toMatchObject({
      kind: 'refused',
      reason: expect.any(String),
    })
    expect((await timeline(it)).posts.map((found) => found.externalId)).toEqual([externalId])
  })

  test('the longest long post by its own limit is published whole and recognised again; a longer one is refused', async () => {
    await using it = await open()
    const { maxLength, maxLongLength, measure } = it.network.limits
    const most = maxLongLength ?? maxLength
    const longest = 'A line of words. '
      .repeat(most)
      .slice(0, most - 1)
      .concat('!')
    expect(measure(longest)).toBe(most)
    const long = (text: string) =>
      it.network.publish({ ...request(it, text), isLong: true }, never())
    expect(await long(longest)).toMatchObject({ kind: 'posted' })
    expect(await long(`${longest}y`)).toMatchObject({ kind: 'refused', reason: expect.any(String) })
    expect((await timeline(it)).posts.map((found) => fingerprintText(found.text))).toEqual([
      fingerprintText(longest),
    ])
  })

  test.each(['', ' \n '])(
    'a text without a word (%j) is refused and leaves nothing',
    async (text) => {
      await using it = await open()
      expect(await publish(it, text)).toMatchObject({ kind: 'refused' })
      expect((await timeline(it)).posts).toEqual([])
    },
  )

  test('an attempt sent twice posts once on an idempotent network, and makes a second post elsewhere', async () => {
    await using it = await open()
    const attempt = request(it, 'Said once, or said twice.')
    const results = [
      await it.network.publish(attempt, never()),
      await it.network.publish(attempt, never()),
    ]
    const answered = new Set(
      results.flatMap((result) => (result.kind === 'posted' ? [result.externalId] : [])),
    )
    const found = (await timeline(it)).posts.map(({ externalId }) => externalId)
    expect(new Set(found)).toEqual(answered)
    if (it.network.keys) expect(found).toHaveLength(1)
  })

  test('a publish aborted before it is sent resolves, posts nothing, and is not reported as refused', async () => {
    await using it = await open()
    const result = await it.network.publish(request(it, 'Too late.'), AbortSignal.abort())
    expect(['not_applied', 'unknown']).toContain(result.kind)
    expect((await timeline(it)).posts).toEqual([])
  })
}

const reading = (open: () => Promise<NetworkCase>): void => {
  test('a timeline is newest first', async () => {
    await using it = await open()
    const ids = []
    for (const text of ['One.', 'Two.', 'Three.']) ids.unshift(await post(it, text))
    expect((await timeline(it)).posts.map((found) => found.externalId)).toEqual(ids)
  })

  test('a timeline holds the posts created at or after `since`, and no others', async () => {
    await using it = await open()
    for (const text of ['One.', 'Two.', 'Three.']) await post(it, text)
    const { posts } = await timeline(it)
    expect(posts).toHaveLength(3)
    for (const { createdAt } of posts) {
      const expected = posts.filter((found) => found.createdAt >= createdAt)
      expect((await timeline(it, createdAt)).posts).toEqual(expected)
    }
    expect(await timeline(it, new Date(Date.now() + 3_600_000))).toEqual({
      posts: [],
      complete: true,
    })
  })

  test('a timeline holds posts of its own account only', async () => {
    await using it = await open()
    const mine = await post(it, 'Mine.')
    const theirs = await post({ ...it, account: it.other }, 'Theirs.')
    expect((await timeline(it)).posts.map((found) => found.externalId)).toEqual([mine])
    expect(
      (await timeline({ ...it, account: it.other })).posts.map((found) => found.externalId),
    ).toEqual([theirs])
  })

  test('an aborted read rejects with a NetworkError', async () => {
    await using it = await open()
    const read = it.network.readTimeline(it.account, EVER, AbortSignal.abort())
    expect(await read.catch((error: unknown) => error)).toBeInstanceOf(NetworkError)
  })
}

const metrics = ({ network, account }: NetworkCase, ids: string[]) =>
  network.readMetrics(account, ids, never())

const measuring = (open: () => Promise<NetworkCase>): void => {
  test('metrics of own posts never fall, whatever else is requested', async () => {
    await using it = await open()
    const ids = [await post(it, 'One.'), await post(it, 'Two.')]
    const before = await metrics(it, ids)
    expect(before.map(({ externalId }) => externalId).toSorted()).toEqual(ids.toSorted())
    for (const one of await metrics(it, ids.slice(0, 1)))
      for (const [name, value] of Object.entries(
        before.find(({ externalId }) => externalId === one.externalId)!,
      ))
        if (typeof value === 'number') expect(one[name as 'likes']).toBeGreaterThanOrEqual(value)
    const { counts } = it.network.limits
    for (const one of before)
      for (const name of countNames)
        expect([name, one[name] !== null]).toEqual([name, counts.includes(name)])
  })

  test('unknown posts, and posts of others, are absent', async () => {
    await using it = await open()
    const mine = await post(it, 'Mine.')
    const theirs = await post({ ...it, account: it.other }, 'Theirs.')
    expect(
      (await metrics(it, [mine, theirs, 'no such post'])).map(({ externalId }) => externalId),
    ).toEqual([mine])
    expect(await metrics(it, [])).toEqual([])
  })

  test('more posts than a call allows are refused with a NetworkError', async () => {
    await using it = await open()
    const ids = Array.from({ length: MOST_MEASURED + 1 }, (_, index) => String(index))
    expect(await metrics(it, ids.slice(1))).toEqual([])
    expect(await metrics(it, ids).catch((error: unknown) => error)).toBeInstanceOf(NetworkError)
  })

  test('an aborted read of metrics rejects with a NetworkError', async () => {
    await using it = await open()
    const read = it.network.readMetrics(it.account, ['1'], AbortSignal.abort())
    expect(await read.catch((error: unknown) => error)).toBeInstanceOf(NetworkError)
  })
}

/**
 * Declares the suite; `open` is called once for each test, and its result disposed of afterwards.
 * `counts`: whether this installation of the network counts what others do with posts.
 */
export const networkCases = (
  name: string,
  open: () => Promise<NetworkCase>,
  { counts = true } = {},
): void => {
  describe(`${name}: publishing`, () => publishing(open))
  describe(`${name}: reading`, () => reading(open))
  describe.skipIf(!counts)(`${name}: measuring, which needs counts`, () => measuring(open))
  describe(`${name}: reading others`, () => sociableCases.readingOthers(open, counts))
  describe(`${name}: engaging`, () => sociableCases.engaging(open, counts))
}
