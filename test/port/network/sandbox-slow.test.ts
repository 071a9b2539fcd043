/** Posts that the sandbox applies after their caller has given up. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { use } from '#test/support/use'
import { eventually, never, openSandboxWorld, publish } from './sandbox-world.ts'

const world = use(openSandboxWorld)

const EVER = new Date(0)

describe('slow', () => {
  test('a post that is due precedes one that is published now', async () => {
    const account = await world.newAccount()
    await world.admin`insert into sandbox.delayed (account_id, text, apply_at)
      values (${account.externalId}, 'Late.', now() - interval '1 second')`
    expect(await publish(world.sandbox(), account, { text: 'New.' })).toMatchObject({
      kind: 'posted',
    })
    expect(await world.postsOf(account)).toEqual(['Late.', 'New.'])
  })

  test('the caller waits until it gives up, and the post is due 1 to 3 seconds after the deadline', async () => {
    const account = await world.newAccount()
    const giveUp = new AbortController()
    const before = Date.now()
    const answer = publish(world.sandbox('slow=1'), account, {
      deadlineMs: 60_000,
      signal: giveUp.signal,
    })
    await eventually(async () => (await world.delayed(account)).length === 1)
    giveUp.abort()
    expect(await answer).toEqual({ kind: 'unknown', reason: 'timeout', cause: 'no_answer' })
    const after = Date.now()
    const due = (await world.delayed(account))[0]?.apply_at.getTime() ?? 0
    expect(due).toBeWithin(before + 61_000, after + 63_001)
    expect(await world.postsOf(account)).toEqual([])
  })

  test('a caller that never gives up is answered at its deadline', async () => {
    const account = await world.newAccount()
    expect(await publish(world.sandbox('slow=1'), account, { deadlineMs: 1 })).toEqual({
      kind: 'unknown',
      reason: 'timeout',
      cause: 'no_answer',
    })
  })

  test('a due post is in the next timeline, once, dated when it was applied', async () => {
    const account = await world.newAccount()
    await publish(world.sandbox('slow=1'), account, { deadlineMs: 1 })
    await world.admin`update sandbox.delayed set apply_at = now() - interval '1 minute'
      where account_id = ${account.externalId}`
    const reads = await Promise.all(
      Array.from({ length: 4 }, () => world.sandbox().readTimeline(account, EVER, never())),
    )
    for (const { posts } of reads) expect(posts.map(({ text }) => text)).toEqual(['Hello.'])
    const [fresh] = await world.admin`
      select created_at > now() - interval '30 seconds' as yes from sandbox.posts
        where account_id = ${account.externalId}`
    expect(fresh?.yes).toBe(true)
    expect(await world.postsOf(account)).toEqual(['Hello.'])
    expect(await world.delayed(account)).toHaveLength(0)
  })

  test('a due post is applied before the next one is published', async () => {
    const account = await world.newAccount()
    await publish(world.sandbox('slow=1'), account, { text: 'First.', deadlineMs: 1 })
    await world.admin`update sandbox.delayed set apply_at = now()
      where account_id = ${account.externalId}`
    await publish(world.sandbox(), account, { text: 'Second.' })
    expect(await world.postsOf(account)).toEqual(['First.', 'Second.'])
  })

  test('a post is applied when due while nobody reads or publishes', async () => {
    const account = await world.newAccount()
    expect(await world.store.addLater(account.externalId, 'By itself.', 20)).toBe(true)
    await eventually(async () => (await world.postsOf(account)).length === 1)
    expect(await world.postsOf(account)).toEqual(['By itself.'])
  })

  test('a post that fell due while no process was running is applied when the store opens', async () => {
    await using own = await openSandboxWorld()
    const { externalId } = await own.newAccount()
    await own.admin`
      insert into sandbox.delayed (account_id, text, apply_at)
        values (${externalId}, 'Left behind.', now() - interval '1 minute')`
    await using _later = openSandboxStore(own.options)
    await eventually(
      async () =>
        (await own.admin`select from sandbox.posts where account_id = ${externalId}`).length === 1,
    )
  })

  test('a process that is killed while it waits has recorded the post, which still appears', async () => {
    const account = await world.newAccount()
    const input = JSON.stringify({
      options: world.options,
      account,
      text: 'Posthumous.',
      deadlineMs: 60_000,
    })
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'slow-publish.ts'), input], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await eventually(
      async () => child.exitCode !== null || (await world.delayed(account)).length === 1,
    )
    child.kill('SIGKILL')
    await child.exited
    await world.admin`update sandbox.delayed set apply_at = now()
      where account_id = ${account.externalId}`
    expect(
      (await world.sandbox().readTimeline(account, EVER, never())).posts.map(({ text }) => text),
    ).toEqual(['Posthumous.'])
    expect(await world.postsOf(account)).toEqual(['Posthumous.'])
  })
})
