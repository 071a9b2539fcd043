import { describe, expect, test } from 'bun:test'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type NetworkAccount, NetworkError } from '#port/network/network'
import { networkCases } from '#test/cases/network'
import { use } from '#test/support/use'
import { never, openSandboxWorld, publish } from './sandbox-world.ts'

const world = use(openSandboxWorld)

const EVER = new Date(0)

networkCases('sandbox', async () => ({
  network: world.sandbox(),
  account: await world.newAccount(),
  other: await world.newAccount(),
  async [Symbol.asyncDispose]() {},
}))

describe('connecting', () => {
  test('the same handle keeps its id and its spelling, with or without @ and in any case', async () => {
    const [sandbox, workspace] = [world.sandbox(), newId()]
    const first = await sandbox.connect(workspace, '@Ada_L')
    expect(first).toEqual({ externalId: expect.stringMatching(/^\d{19}$/), handle: 'Ada_L' })
    expect(await sandbox.connect(workspace, 'ada_l ')).toEqual(first)
    expect((await sandbox.connect(workspace, 'ada_b')).externalId).not.toBe(first.externalId)
  })

  test('the same handle in another workspace is another account, which that workspace reads first', async () => {
    const [sandbox, second] = [world.sandbox(), newId()]
    const [own, other] = [
      await sandbox.connect(newId(), 'twice'),
      await sandbox.connect(second, 'Twice'),
    ]
    expect(await sandbox.connect(second, 'TWICE')).toEqual(other)
    expect(other.externalId).not.toBe(own.externalId)
    expect(other.handle).toBe('Twice')
    const accounts = [own, other].map((account) => ({ id: newId(), ...account }))
    for (const account of accounts)
      expect(await publish(sandbox, account, { text: `By ${account.handle}` })).toMatchObject({
        kind: 'posted',
      })
    const textsSeenBy = async (reader: NetworkAccount) =>
      (await sandbox.readHandle(reader, { handle: 'twice', since: EVER, limit: 9 }, never()))!.map(
        ({ text }) => text,
      )
    expect(await textsSeenBy(accounts[0]!)).toEqual(['By twice'])
    expect(await textsSeenBy(accounts[1]!)).toEqual(['By Twice'])
    // Others see the account that had the handle first.
    expect(await textsSeenBy(await world.newAccount())).toEqual(['By twice'])
    const timelines = await Promise.all(
      accounts.map((account) => sandbox.readTimeline(account, EVER, never())),
    )
    expect(timelines.map(({ posts }) => posts.map(({ text }) => text))).toEqual([
      ['By twice'],
      ['By Twice'],
    ])
  })

  test('connecting a handle many times at once makes one account', async () => {
    const [sandbox, workspace] = [world.sandbox(), newId()]
    const found = await Promise.all(
      Array.from({ length: 20 }, () => sandbox.connect(workspace, 'grace')),
    )
    expect(new Set(found.map(({ externalId }) => externalId)).size).toBe(1)
  })

  test.each(['', '@', 'two words', 'a'.repeat(51), "x'; drop table sandbox.posts"])(
    '%j is not a handle',
    async (handle) => {
      const error = await world
        .sandbox()
        .connect(newId(), handle)
        .catch((cause: unknown) => cause)
      expect(error).toBeInstanceOf(AppError)
      expect(error).toMatchObject({ code: 'invalid_input' })
    },
  )

  test('an account that was never connected can neither publish nor be read', async () => {
    const stranger = { id: newId(), externalId: '12345', handle: 'stranger' }
    expect(await publish(world.sandbox(), stranger)).toMatchObject({ kind: 'disconnected' })
    expect(await publish(world.sandbox('slow=1'), stranger)).toMatchObject({ kind: 'disconnected' })
    const error = await world
      .sandbox()
      .readTimeline(stranger, EVER, never())
      .catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ reason: 'disconnected' })
  })
})

describe('publishing', () => {
  test('text is stored byte for byte', async () => {
    const account = await world.newAccount()
    const text = '  Cafe\u0301\r\n\t👩‍👩‍👧‍👦  "x" \\n \u200b '
    await publish(world.sandbox(), account, { text })
    expect(await world.postsOf(account)).toEqual([text])
    expect((await world.sandbox().readTimeline(account, EVER, never())).posts[0]?.text).toBe(text)
  })

  test('length is weighted: 140 emoji are posted, 141 refused', async () => {
    const account = await world.newAccount()
    expect(await publish(world.sandbox(), account, { text: '🚀'.repeat(140) })).toMatchObject({
      kind: 'posted',
    })
    expect(await publish(world.sandbox(), account, { text: '🚀'.repeat(141) })).toMatchObject({
      kind: 'refused',
    })
  })

  test('a text that cannot be stored is refused', async () => {
    expect(
      await publish(world.sandbox(), await world.newAccount(), { text: 'a\0b' }),
    ).toMatchObject({ kind: 'refused' })
  })

  test('simultaneous posts get numeric ids of their own, and exist once each', async () => {
    const account = await world.newAccount()
    const texts = Array.from({ length: 100 }, (_, number) => `Post ${number}`)
    const results = await Promise.all(
      texts.map((text) => publish(world.sandbox(), account, { text })),
    )
    const ids = results.flatMap((result) => (result.kind === 'posted' ? [result.externalId] : []))
    expect(new Set(ids).size).toBe(100)
    expect(ids.every((id) => /^\d{19}$/.test(id))).toBe(true)
    const counted = await world.admin`
      select account_id, text, count(*)::int as count from sandbox.posts
        where account_id = ${account.externalId} group by 1, 2`
    expect(counted.map(({ text }) => text).sort()).toEqual(texts.toSorted())
    expect(counted.every(({ count }) => count === 1)).toBe(true)
  })

  test('a timeline since the very instant of a post contains it', async () => {
    const account = await world.newAccount()
    await publish(world.sandbox(), account)
    const instant = new Date('2026-01-01T00:00:00.500Z')
    await world.admin`update sandbox.posts set created_at = ${instant}
      where account_id = ${account.externalId}`
    expect((await world.sandbox().readTimeline(account, instant, never())).posts).toHaveLength(1)
  })

  test('ids sort by time', async () => {
    const account = await world.newAccount()
    const ids: string[] = []
    for (let number = 0; number < 20; number += 1) {
      const result = await publish(world.sandbox(), account, { text: `Post ${number}` })
      if (result.kind === 'posted') ids.push(result.externalId)
    }
    expect(ids).toHaveLength(20)
    expect(ids.toSorted()).toEqual(ids)
  })
})

describe('faults', () => {
  test.each([
    ['500', { kind: 'unknown', reason: '500', cause: 'server_error' }, 0],
    ['429', { kind: 'not_applied', reason: 'rate_limited', retryAfterMs: 2_000 }, 0],
    ['applied502', { kind: 'unknown', reason: '502', cause: 'server_error' }, 1],
    ['drop', { kind: 'unknown', reason: 'connection closed', cause: 'no_answer' }, 1],
  ])('%s is answered as %j, and there are %i posts', async (fault, answer, count) => {
    const account = await world.newAccount()
    expect(await publish(world.sandbox(`${fault}=1`), account)).toMatchObject(answer)
    expect(await world.postsOf(account)).toHaveLength(count)
  })

  test('no fault applies a text that is refused', async () => {
    const account = await world.newAccount()
    for (const fault of ['slow', 'applied502', 'drop'])
      expect(await publish(world.sandbox(`${fault}=1`), account, { text: '' })).toMatchObject({
        kind: 'refused',
      })
    expect([...(await world.postsOf(account)), ...(await world.delayed(account))]).toEqual([])
  })

  test('two adapters with equal settings misbehave equally', async () => {
    const spec = '500=0.3,429=0.3,drop=0.2;seed=11'
    const run = async () => {
      const account = await world.newAccount()
      const sandbox = world.sandbox(spec)
      const kinds: string[] = []
      for (let number = 0; number < 30; number += 1)
        kinds.push((await publish(sandbox, account)).kind)
      return kinds
    }
    expect(await run()).toEqual(await run())
  })

  test('a lagging timeline misses young posts and still calls itself complete', async () => {
    const account = await world.newAccount()
    const lagging = world.sandbox('lag=1s')
    await publish(lagging, account, { text: 'Old.' })
    await publish(lagging, account, { text: 'Young.' })
    await world.admin`
      update sandbox.posts set created_at = created_at - interval '1 second'
        where account_id = ${account.externalId} and text = 'Old.'`
    await world.admin`
      update sandbox.posts set created_at = now() + interval '1 hour'
        where account_id = ${account.externalId} and text = 'Young.'`
    const { posts, complete } = await lagging.readTimeline(account, EVER, never())
    expect(posts.map(({ text }) => text)).toEqual(['Old.'])
    expect(complete).toBe(true)
    expect((await world.sandbox().readTimeline(account, EVER, never())).posts).toHaveLength(2)
  })
})

test('the sandbox promises how late it can apply a post that it answered with an error, unless posts may be slow', () => {
  const promise = (faults: string) => {
    const { maxApplyMs, completeReadBack } = world.sandbox(faults).limits
    return [maxApplyMs, completeReadBack]
  }
  expect(promise('500=0.2,applied502=0.2,drop=0.2')).toEqual([1_000, true])
  expect(promise('500=0.2,lag=2s')).toEqual([3_000, true])
  expect(promise('500=0.2,slow=0.01,lag=2s')).toEqual([null, false])
})

describe('the tables', () => {
  const as = (role: string, statement: string) =>
    world.admin
      .begin(async (sql) => {
        await sql.unsafe(`set local role ${role}`)
        return await sql.unsafe(statement)
      })
      .catch((cause: { code?: string }) => cause.code)

  test.each(['tendril_app', 'tendril_system'])('are closed to %s', async (role) => {
    for (const table of ['accounts', 'posts', 'delayed'])
      expect(await as(role, `select from sandbox.${table}`)).toBe('42501')
  })

  test("are all that the sandbox's role can see, and posts cannot be changed by it", async () => {
    expect(await as('tendril_sandbox', 'select from tenant')).toBe('42501')
    expect(await as('tendril_sandbox', `update sandbox.posts set text = 'other'`)).toBe('42501')
    expect(await as('tendril_sandbox', 'delete from sandbox.posts')).toBe('42501')
    expect(await as('tendril_sandbox', 'select from sandbox.posts limit 0')).toEqual(
      expect.objectContaining({ length: 0 }),
    )
  })
})
