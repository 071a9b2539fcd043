/** A post that the network makes after its item has been returned. */
import { describe, expect, test } from 'bun:test'
import { NetworkError } from '#port/network/network'
import { eventually } from '#test/support/app'
import { insertSandboxPost } from '#test/support/database/writes'
import { postNow, useReturns, wake } from '#test/support/growth/returned'
import { newStory, type Story, textOf } from '#test/support/growth/story'

const { app, network, attempts, sends, postUntilDoubt, decided, readNow, restWatch, returned } =
  useReturns()

describe('a post that appears after all', () => {
  const appearsLate = (story: Story, id: string) =>
    insertSandboxPost(app, story.account, textOf(id))

  test('marks the waiting item as posted, scheduled or not', async () => {
    const story = await newStory(app)
    const [waiting, scheduled] = [await returned(story), await returned(story)]
    await story.send('POST', `items/${scheduled}/schedule`, {
      body: { post_at: new Date(Date.now() + 3_600_000).toISOString() },
    })
    for (const id of [waiting, scheduled]) {
      await appearsLate(story, id)
      await readNow(id)
      await wake(story)
      expect(await story.settled(id, 'posted')).toMatchObject({
        status: 'posted',
        post_at: null,
        last_error: null,
      })
      expect([await attempts(id), sends(textOf(id))]).toEqual([['posted'], 1])
      expect(await app.owner`select kind from work where ref_id = ${id}`).toHaveLength(0)
    }
    expect((await story.events()).filter((event) => event === 'growth.item.posted')).toHaveLength(2)
  })

  test('is found by the read before the next send, and nothing is sent', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    await restWatch(id)
    await appearsLate(story, id)
    const reply = await postNow(story, id)
    expect([reply.status, reply.body.item.status]).toEqual([200, 'posted'])
    expect([await attempts(id), sends(textOf(id))]).toEqual([['posted', 'unsent'], 1])
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
    expect((await postNow(story, id)).headers.get('idempotency-replayed')).toBe('true')
  })

  describe('with the text from before an edit', () => {
    /** Returned, and then approved with another text. */
    const editedSince = async (story: Story): Promise<string> => {
      const id = await returned(story)
      expect(
        (await story.send('PATCH', `items/${id}`, { body: { body: `Better ${id}` } })).body.item
          .status,
      ).toBe('drafted')
      expect((await story.send('POST', `items/${id}/approve`)).status).toBe(200)
      await restWatch(id)
      await appearsLate(story, id)
      return id
    }
    const isTold = async (story: Story, id: string) => {
      const item = await story.item(id)
      expect(item).toMatchObject({
        status: 'posted',
        body: `Better ${id}`,
        last_error: expect.stringMatching(/^posted_before_edit: .*\d+/),
      })
      expect((await story.events()).slice(-2)).toEqual([
        'growth.item.posted',
        'growth.approval.requested',
      ])
      expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
    }

    test('marks the waiting item as posted, and its error says so', async () => {
      const story = await newStory(app)
      const id = await editedSince(story)
      await readNow(id)
      await wake(story)
      await story.settled(id, 'posted')
      await isTold(story, id)
    })

    test('is found by the read before the next send, and nothing is sent', async () => {
      const story = await newStory(app)
      const id = await editedSince(story)
      const { body } = await postNow(story, id, 'the better one')
      expect([body.item.status, sends(`Better ${id}`)]).toEqual(['posted', 0])
      await isTold(story, id)
    })
  })

  test('that the timeline may show stops the next send, and the item goes to review', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    await restWatch(id)
    const cut = {
      externalId: 'x',
      text: `${textOf(id).slice(0, 12)}…`,
      truncated: true,
      createdAt: new Date(),
      url: null,
    }
    network.view = () => ({ posts: [cut], complete: true })
    await postUntilDoubt(story, id, 'once more')
    expect(await decided(story, id)).toMatchObject({
      status: 'publish_unconfirmed',
      review: true,
      doubt: { resolves: 'by_person' },
    })
    network.view = (timeline) => timeline
    expect([await attempts(id), sends(textOf(id))]).toEqual([['review', 'unsent'], 1])
    expect(await story.events()).toContain('growth.approval.requested')
  })

  test('cannot be ruled out without a read: nothing is sent, and the caller gets an error', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    network.view = () => Promise.reject(new NetworkError('unreachable', 'no answer'))
    const reply = await postNow(story, id, 'once more')
    network.view = (timeline) => timeline
    expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
    expect([(await story.item(id)).status, await attempts(id), sends(textOf(id))]).toEqual([
      'approved',
      ['returned', 'failed'],
      1,
    ])
    expect((await postNow(story, id, 'once more')).body.item.status).toBe('posted')
  })

  test('after the next send is there twice: the item stays posted, its error names the other post and a person is asked', async () => {
    const story = await newStory(app)
    const id = await returned(story)
    expect((await postNow(story, id)).body.item.status).toBe('posted')
    await appearsLate(story, id)
    await readNow(id)
    await wake(story)
    const item = await eventually(
      () => story.item(id),
      ({ last_error }) => last_error !== null,
    )
    expect(item).toMatchObject({
      status: 'posted',
      last_error: expect.stringMatching(/^posted_twice: .*\d+/),
    })
    expect(await attempts(id)).toEqual(['posted', 'posted'])
    expect((await story.events()).at(-1)).toBe('growth.approval.requested')
  })
})
