/** What every network adapter must do with posts of others, in one suite that runs against each. */
import { expect, test } from 'bun:test'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import { newId } from '#kernel/ids'
import { NetworkError, type OthersPost } from '#port/network/network'
import { EVER, keyFor, type NetworkCase, never, post } from './network.ts'

const engage = (
  { network, account }: NetworkCase,
  action: EngageAction,
  { postId, text, approval }: { postId: string; text?: string; approval?: string },
) =>
  network.engage(
    {
      account,
      action,
      postId,
      ...(text ? { text } : {}),
      attemptId: newId(),
      key: keyFor(network, approval),
      madeAt: new Date(),
      deadlineMs: 10_000,
    },
    never(),
  )

const theirs = (it: NetworkCase): NetworkCase => ({ ...it, account: it.other, other: it.account })

const postOf = async ({ network, account }: NetworkCase, ref: string): Promise<OthersPost> =>
  (await network.readPost(account, ref, never())) ?? Promise.reject(new Error(`no post ${ref}`))

const handlePosts = (it: NetworkCase, handle: string, { since = EVER, limit = 20 } = {}) =>
  it.network.readHandle(it.account, { handle, since, limit }, never())

const readingOthers = (open: () => Promise<NetworkCase>, counts: boolean): void => {
  test('the posts of a handle are newest first, at most as many as requested, and none before `since`', async () => {
    await using it = await open()
    const ids = []
    for (const text of ['One.', 'Two.', 'Three.']) ids.unshift(await post(theirs(it), text))
    const all = (await handlePosts(it, `@${it.other.handle.toUpperCase()}`)) ?? []
    expect(all.map(({ externalId }) => externalId)).toEqual(ids)
    expect(all[0]).toMatchObject({
      text: 'Three.',
      author: { externalId: it.other.externalId, handle: it.other.handle },
    })
    expect(await handlePosts(it, it.other.handle, { limit: 2 })).toEqual(all.slice(0, 2))
    expect(await handlePosts(it, it.other.handle, { since: all[1]!.createdAt })).toEqual(
      all.filter(({ createdAt }) => createdAt >= all[1]!.createdAt),
    )
  })

  test('an unknown handle has no account, and an account that has posted nothing has no posts', async () => {
    await using it = await open()
    expect(await handlePosts(it, `nobody_${newId()}`)).toBeNull()
    expect(await handlePosts(it, it.other.handle)).toEqual([])
  })

  test('a post is found by its id, and an unknown id finds none', async () => {
    await using it = await open()
    const id = await post(theirs(it), 'Find me.')
    expect(await postOf(it, id)).toMatchObject({
      externalId: id,
      text: 'Find me.',
      addressesUs: false,
      ...(counts ? { done: [] } : {}),
    })
    expect(await it.network.readPost(it.account, '17', never())).toBeNull()
    expect(await it.network.readPost(it.account, 'no post at all', never())).toBeNull()
  })

  test('a post addresses the account whose handle it contains, and not one whose handle only begins with it', async () => {
    await using it = await open()
    const addressed = await post(
      theirs(it),
      `What do you say, @${it.account.handle.toUpperCase()}?`,
    )
    const other = await post(theirs(it), `What do you say, @${it.account.handle}_too?`)
    expect((await postOf(it, addressed)).addressesUs).toBe(true)
    expect((await postOf(it, other)).addressesUs).toBe(false)
  })

  test('aborted reads reject with a NetworkError', async () => {
    await using it = await open()
    const query = { handle: it.other.handle, since: EVER, limit: 1 }
    const reads = [
      it.network.readHandle(it.account, query, AbortSignal.abort()),
      it.network.readPost(it.account, '17', AbortSignal.abort()),
    ]
    for (const read of reads)
      expect(await read.catch((error: unknown) => error)).toBeInstanceOf(NetworkError)
  })
}

const engaging = (open: () => Promise<NetworkCase>, counts: boolean): void => {
  test('a reply and a quote are new posts of the account that name what they answer', async () => {
    await using it = await open()
    const postId = await post(theirs(it), 'Say something.')
    for (const action of ['reply', 'quote', 'reply'] as const)
      expect(await engage(it, action, { postId, text: `By ${action}.` })).toMatchObject({
        kind: 'posted',
        externalId: expect.any(String),
      })
    const { posts } = await it.network.readTimeline(it.account, EVER, never())
    expect(posts).toMatchObject([
      { text: 'By reply.', inReplyTo: postId },
      { text: 'By quote.', quoted: postId },
      { text: 'By reply.', inReplyTo: postId },
    ])
    if (counts) expect((await postOf(it, postId)).metrics).toMatchObject({ replies: 2, quotes: 1 })
    expect((await postOf(theirs(it), posts[1]!.externalId)).addressesUs).toBe(true)
    expect((await postOf(theirs(it), posts[0]!.externalId)).addressesUs).toBe(false)
  })

  test.each(['like', 'repost'] as const)(
    'a %s done twice exists once, is counted, and is shown to its author',
    async (action) => {
      await using it = await open()
      const postId = await post(theirs(it), 'Well said.')
      for (const _ of [1, 2])
        expect(await engage(it, action, { postId, approval: postId })).toEqual({
          kind: 'posted',
          externalId: postId,
          url: null,
        })
      if (!counts) return
      const { metrics, done } = await postOf(it, postId)
      expect({ likes: metrics.likes, reposts: metrics.reposts, done }).toEqual({
        likes: action === 'like' ? 1 : 0,
        reposts: action === 'repost' ? 1 : 0,
        done: [action],
      })
      expect((await postOf(theirs(it), postId)).done).toEqual([])
    },
  )

  test('a post that does not exist can be neither answered nor liked, and a text that is too long is refused', async () => {
    await using it = await open()
    const postId = await post(theirs(it), 'Short.')
    const { maxLength } = it.network.limits
    expect(await engage(it, 'like', { postId: '17' })).toMatchObject({ kind: 'refused' })
    expect(await engage(it, 'reply', { postId: '17', text: 'To whom?' })).toMatchObject({
      kind: 'refused',
    })
    expect(await engage(it, 'reply', { postId, text: 'x'.repeat(maxLength + 1) })).toMatchObject({
      kind: 'refused',
    })
    expect((await postOf(it, postId)).metrics).toMatchObject({ likes: 0, replies: 0 })
  })

  test('an engagement aborted before it is sent resolves and does nothing', async () => {
    await using it = await open()
    const postId = await post(theirs(it), 'Too late.')
    const request = {
      account: it.account,
      action: 'like',
      postId,
      attemptId: newId(),
      key: keyFor(it.network),
      madeAt: new Date(),
      deadlineMs: 10_000,
    } as const
    expect(['not_applied', 'unknown']).toContain(
      (await it.network.engage(request, AbortSignal.abort())).kind,
    )
    expect((await postOf(it, postId)).metrics.likes).toBe(0)
  })
}

export const sociableCases = { readingOthers, engaging }
