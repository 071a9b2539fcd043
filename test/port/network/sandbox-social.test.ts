import { describe, expect, test } from 'bun:test'
import { engageActions } from '#contract/records/growth/engagement'
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import { newId } from '#kernel/ids'
import type { NetworkAccount, OthersPost } from '#port/network/network'
import { residents } from '#port/network/sandbox/residents'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import { interestIn, postsOf, scheduledPost } from '#port/network/sandbox/schedule'
import { postIdIn } from '#port/network/sandbox/social'
import { use } from '#test/support/use'
import { eventually, openSandboxWorld } from './sandbox-world.ts'

const world = use(openSandboxWorld)

const EVER = new Date(0)
const NOW = new Date('2026-11-21T12:00:00Z')
const never = (): AbortSignal => new AbortController().signal
const [lena] = residents as [(typeof residents)[number]]

const reading = (
  sandbox: Sandbox,
  account: NetworkAccount,
  { handle = lena.handle, limit = 20 } = {},
) => sandbox.readHandle(account, { handle, since: EVER, limit }, never())

const like = (sandbox: Sandbox, account: NetworkAccount, postId: string) =>
  sandbox.engage(
    {
      account,
      action: 'like',
      postId,
      attemptId: newId(),
      key: null,
      madeAt: new Date(),
      deadlineMs: 50,
    },
    never(),
  )

const reply = (sandbox: Sandbox, account: NetworkAccount, postId: string) =>
  sandbox.engage(
    {
      account,
      action: 'reply',
      postId,
      text: 'So it is.',
      attemptId: newId(),
      key: null,
      madeAt: new Date(),
      deadlineMs: 50,
    },
    never(),
  )

describe('the schedule of the residents', () => {
  test('is the same whenever it is read, and grows with time', () => {
    const query = { since: new Date('2026-11-14T12:00:00Z'), now: NOW, limit: 100 }
    const posts = postsOf(lena, query)
    expect(posts.length).toBeGreaterThan(20)
    expect(postsOf(lena, query)).toEqual(posts)
    const tomorrow = postsOf(lena, { ...query, now: new Date('2026-11-22T12:00:00Z') })
    expect(tomorrow.slice(-posts.length)).toEqual(posts)
    expect(tomorrow.length).toBeGreaterThan(posts.length)
    expect(posts.map(({ createdAt }) => +createdAt)).toEqual(
      posts.map(({ createdAt }) => +createdAt).sort((a, b) => b - a),
    )
  })

  test.each(residents.map((resident) => [resident.handle, resident] as const))(
    '%s asks, tells and addresses others',
    (_, resident) => {
      const posts = postsOf(resident, { since: EVER, now: NOW, limit: 200 })
      expect(posts.some(({ text }) => resident.questions.includes(text))).toBe(true)
      expect(posts.some(({ addresses }) => addresses)).toBe(true)
      expect(
        posts.some(({ text, addresses }) => !addresses && !resident.questions.includes(text)),
      ).toBe(true)
    },
  )

  test('has each post by its id from its moment on, and no other id', () => {
    for (const post of postsOf(lena, { since: EVER, now: NOW, limit: 30 })) {
      expect(scheduledPost(post.id, NOW)).toEqual(post)
      expect(scheduledPost(post.id, new Date(+post.createdAt - 1))).toBeUndefined()
      expect(scheduledPost(String(BigInt(post.id) + 4_194_304n), NOW)).toBeUndefined()
    }
  })

  test('has interest in a post that only grows', () => {
    const [post] = postsOf(lena, { since: EVER, now: NOW, limit: 1 })
    const numbers = [0, 1, 5, 24, 100].map((hours) =>
      interestIn(post!, new Date(+post!.createdAt + hours * 3_600_000)),
    )
    for (const name of [
      'impressions',
      'likes',
      'replies',
      'reposts',
      'quotes',
      'clicks',
    ] as const) {
      const series = numbers.map((one) => one[name])
      expect(series).toEqual(series.toSorted((a, b) => a - b))
    }
    expect(numbers.at(-1)!.impressions).toBeGreaterThan(numbers[1]!.impressions)
  })
})

test.each([
  ['1234', '1234'],
  [' https://x.com/somebody/status/1234 ', '1234'],
  ['https://x.com/somebody/status/1234?s=20', '1234'],
  ['http://example.com/1234/', '1234'],
  ['javascript:1234', undefined],
  ['https://x.com/somebody', undefined],
  ['123456789012345678901', undefined],
  ['', undefined],
])('the post that %p refers to is %p', (ref, id) => {
  expect(postIdIn(ref)).toBe(id as string)
})

test("residents' posts are read and answered like those of accounts, and what accounts do is counted on top", async () => {
  const [account, sandbox] = [await world.newAccount(), world.sandbox()]
  const [before] = (await reading(sandbox, account))!.slice(-1)
  await like(sandbox, account, before!.externalId)
  await reply(sandbox, account, before!.externalId)
  const after = (await sandbox.readPost(
    account,
    `https://sandbox.example/${lena.handle}/status/${before!.externalId}`,
    never(),
  ))!
  expect(after.metrics.likes).toBeGreaterThan(before!.metrics.likes)
  expect(after.metrics.replies).toBeGreaterThan(before!.metrics.replies)
  expect(after).toMatchObject({ text: before!.text, done: ['like'] })
})

test("residents address existing accounts, and nobody can take a resident's handle", async () => {
  const sandbox = world.sandbox()
  const account = await world.newAccount()
  const long = (await reading(sandbox, account, { limit: 400 }))!
  expect(long.every(({ text }) => !/(^|\s)@(\s|$)/.test(text))).toBe(true)
  await world.admin`update sandbox.accounts set created_at = '2020-01-01'
    where id = ${account.externalId}`
  const addressed = (await reading(sandbox, account, { limit: 400 }))!.filter(
    ({ addressesUs }) => addressesUs,
  )
  expect(addressed.length).toBeGreaterThan(0)
  expect(addressed.every(({ text }) => text.includes(`@${account.handle}`))).toBe(true)
  expect(sandbox.connect(newId(), lena.handle.toUpperCase())).rejects.toThrow(
    'is taken in the sandbox',
  )
})

describe('by the rules of X', () => {
  const post = { externalId: '42', addressesUs: false } as OthersPost

  test.each(engageActions)('the preflight says whether a %s is allowed', (action) => {
    const open = world.sandbox()
    const ruled = world.sandbox('', 'x_selfserve')
    expect(open.preflight(action, post)).toEqual({ allowed: true })
    const refused = (reason: string, link: string): Preflight => ({
      allowed: false,
      reason,
      message: expect.any(String),
      link,
    })
    const expected: Record<EngageAction, Preflight> = {
      reply: refused('x_reply_not_summoned', 'https://x.com/intent/tweet?in_reply_to=42'),
      quote: refused('x_quote_selfserve_removed', 'https://x.com/i/status/42'),
      like: refused('x_like_selfserve_removed', 'https://x.com/i/status/42'),
      repost: { allowed: true },
    }
    expect(ruled.preflight(action, post)).toEqual(expected[action])
    expect(ruled.preflight(action, { ...post, addressesUs: true })).toEqual(
      action === 'reply' ? { allowed: true } : expected[action],
    )
  })

  test('a forbidden action is refused when it is sent', async () => {
    const [account, ruled] = [await world.newAccount(), world.sandbox('', 'x_selfserve')]
    const [post] = (await reading(ruled, account, { limit: 400 }))!.filter(
      ({ addressesUs }) => !addressesUs,
    )
    expect(await like(ruled, account, post!.externalId)).toMatchObject({ kind: 'refused' })
    expect(await reply(ruled, account, post!.externalId)).toMatchObject({ kind: 'refused' })
  })
})

describe('with faults', () => {
  const rows = ({ externalId }: NetworkAccount) =>
    world.admin`select post_id, kind from sandbox.reactions where account_id = ${externalId}`
  const target = async (account: NetworkAccount) =>
    (await reading(world.sandbox(), account))![0]!.externalId

  test.each([
    ['500', 'unknown', 0],
    ['429', 'not_applied', 0],
    ['applied502', 'unknown', 1],
    ['drop', 'unknown', 1],
  ] as const)('%s: the answer is %s, and there are %i likes', async (fault, kind, count) => {
    const account = await world.newAccount()
    expect((await like(world.sandbox(`${fault}=1`), account, await target(account))).kind).toBe(
      kind,
    )
    expect(await rows(account)).toHaveLength(count)
  })

  test('slow: replies and likes are applied after the caller gives up', async () => {
    const account = await world.newAccount()
    const [sandbox, postId] = [world.sandbox('slow=1'), await target(account)]
    expect(await like(sandbox, account, postId)).toEqual({
      kind: 'unknown',
      reason: 'timeout',
      cause: 'no_answer',
    })
    expect(await reply(sandbox, account, postId)).toEqual({
      kind: 'unknown',
      reason: 'timeout',
      cause: 'no_answer',
    })
    await world.admin`update sandbox.delayed set apply_at = now()
      where account_id = ${account.externalId}`
    await eventually(async () => (await rows(account)).length === 1)
    expect((await world.sandbox().readTimeline(account, EVER, never())).posts).toMatchObject([
      { text: 'So it is.', inReplyTo: postId },
    ])
  })

  test('deleting an account deletes what it did and what it has yet to do', async () => {
    const account = await world.newAccount()
    const postId = await target(account)
    await like(world.sandbox(), account, postId)
    await world.admin`delete from sandbox.accounts where id = ${account.externalId}`
    expect(await rows(account)).toHaveLength(0)
    expect(await like(world.sandbox(), account, postId)).toMatchObject({ kind: 'disconnected' })
  })

  test('lag: a post that is too young is not seen', async () => {
    const [account, other, lagging] = [
      await world.newAccount(),
      await world.newAccount(),
      world.sandbox('lag=3600s'),
    ]
    await world.sandbox().publish(
      {
        account: other,
        text: 'New.',
        attemptId: newId(),
        key: null,
        madeAt: new Date(),
        deadlineMs: 1_000,
      },
      never(),
    )
    expect(await reading(lagging, account, { handle: other.handle })).toEqual([])
    const [post] = (await reading(world.sandbox(), account, { handle: other.handle }))!
    expect(await lagging.readPost(account, post!.externalId, never())).toBeNull()
  })
})
