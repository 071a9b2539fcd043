/** The sandbox can be looked at, and its residents say what they are told to. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { residents } from '#port/network/sandbox/residents'
import { MOST_RESIDENT_POSTS } from '#store/growth/resident-posts'
import { eventually } from '#test/support/app'
import { newStory, type Story } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const LENA = 'late_freight_lena'

interface Seen {
  id: string
  author: string
  own: boolean
  text: string
  created_at: string
  in_reply_to: string | null
  metrics: Record<string, number>
}

const look = async (story: Story, query = '') =>
  (await story.send('GET', `sandbox/timeline?limit=100${query}`)).body.posts as Seen[]
const say = (story: Story, body: object) => story.send('POST', 'sandbox/posts', { body })
const answer = (story: Story, body: object) => story.send('POST', 'sandbox/replies', { body })

const accountOf = async (story: Story) =>
  (await story.send('GET', 'connection')).body.connection.account as { handle: string }
const sent = async (story: Story): Promise<Seen> => {
  const { handle } = await accountOf(story)
  const [row] = await app.owner<{ id: string }[]>`insert into sandbox.posts (account_id, text)
    select id, ${`Sent ${newId()}`} from sandbox.accounts where workspace_id = ${story.tenantId}
      and handle = ${handle} returning id`
  return (await look(story)).find(({ id }) => id === row!.id)!
}

describe('the timeline', () => {
  test('shows what the workspace sent with its numbers, and the residents, newest first', async () => {
    const story = await newStory(app)
    const post = await sent(story)
    expect(post).toMatchObject({
      own: true,
      in_reply_to: null,
      metrics: { replies: expect.any(Number) },
    })
    const posts = await look(story)
    expect(posts.filter(({ own }) => own)).toHaveLength(1)
    expect(posts.some(({ author }) => author === LENA)).toBe(true)
    const times = posts.map(({ created_at }) => created_at)
    expect(times).toEqual(times.toSorted().reverse())
  })

  test('is the same in pages of any length', async () => {
    const story = await newStory(app)
    for (const text of ['One.', 'Two.', 'Three.']) await say(story, { resident: LENA, text })
    await sent(story)
    const whole = await look(story)
    const paged: Seen[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await story.send('GET', `sandbox/timeline?limit=3${query}`)
      paged.push(...body.posts)
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(paged.map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
  })

  test('can be that of one handle, or the answers to one post', async () => {
    const story = await newStory(app)
    const post = await sent(story)
    await answer(story, { resident: LENA, post: post.id, text: 'So it is.' })
    expect((await look(story, `&author=${post.author}`)).map(({ id }) => id)).toEqual([post.id])
    expect(new Set((await look(story, `&author=${LENA}`)).map(({ author }) => author))).toEqual(
      new Set([LENA]),
    )
    expect(await look(story, `&in_reply_to=${post.id}`)).toMatchObject([
      { author: LENA, text: 'So it is.', in_reply_to: post.id, own: false },
    ])
  })

  test('of a workspace without an account is empty', async () => {
    const story = await newStory(app)
    await app.owner`update sandbox.accounts set workspace_id = ${newId()}
      where workspace_id = ${story.tenantId}`
    expect((await story.send('GET', 'sandbox/timeline')).body).toEqual({
      posts: [],
      next_cursor: null,
    })
  })
})

describe('a resident', () => {
  test('says what it is told, in one workspace alone, and the post can be answered like any other', async () => {
    const [story, other] = [await newStory(app), await newStory(app)]
    const { status, body } = await say(story, {
      resident: '@Late_Freight_Lena',
      text: 'The gate was wrong.',
    })
    expect([status, body.post, body.target_id]).toMatchObject([
      201,
      { resident: LENA, text: 'The gate was wrong.', in_reply_to: null },
      null,
    ])
    expect((await look(story)).find(({ id }) => id === body.post.id)).toMatchObject({
      author: LENA,
      own: false,
    })
    expect((await look(other)).map(({ id }) => id)).not.toContain(body.post.id)
    const wish = { post: body.post.id, action: 'reply', body: 'Which gate?' }
    expect(
      (await story.send('POST', 'engagements', { body: wish })).body.engagement.post,
    ).toMatchObject({ author: LENA })
    expect((await other.send('POST', 'engagements', { body: wish })).status).toBe(404)
    expect((await answer(other, { resident: LENA, post: body.post.id, text: 'Hm.' })).status).toBe(
      404,
    )
  })

  test('raises a signal at once where a target watches it, which says whether it addresses the workspace', async () => {
    const story = await newStory(app)
    const { target } = (
      await story.send('POST', 'targets', { body: { handle: LENA, priority: 3 } })
    ).body
    await eventually(
      async () => (await story.send('GET', 'targets')).body.targets[0].last_read_at,
      (at) => at !== null,
    )
    const said = (
      await say(story, { resident: LENA, text: 'Who answers on a Sunday?', mention: true })
    ).body
    expect(said.target_id).toBe(target.id)
    expect(said.post.text).toBe(`@${(await accountOf(story)).handle} Who answers on a Sunday?`)
    const signal = await eventually(
      async () =>
        (await story.send('GET', 'signals?limit=100')).body.signals.find(
          ({ post }: { post: { id: string } }) => post.id === said.post.id,
        ),
      (found) => found !== undefined,
    )
    expect(signal.post).toMatchObject({ addresses_us: true, text: said.post.text })
  })

  test('who answers a post is one more of its replies, and is answered like others', async () => {
    const story = await newStory(app)
    const post = await sent(story)
    const said = await answer(story, {
      resident: LENA,
      post: `https://sandbox.test/${post.id}`,
      text: 'So it is.',
      mention: true,
    })
    expect([said.status, said.body.post.in_reply_to]).toEqual([201, post.id])
    const again = (await look(story)).find(({ id }) => id === post.id)!
    expect(again.metrics.replies).toBe(post.metrics.replies! + 1)
    const { body } = await story.send('POST', 'engagements', {
      body: { post: said.body.post.id, action: 'like' },
    })
    expect(body.engagement.post.addresses_us).toBe(true)
  })

  test('is refused by name where the text, the resident or the account is missing', async () => {
    const story = await newStory(app)
    const long = await say(story, { resident: LENA, text: 'a'.repeat(281) })
    expect([long.status, long.body.error.details[0]]).toMatchObject([400, { path: 'text' }])
    const nobody = await say(story, { resident: 'nobody', text: 'Hm.' })
    expect([nobody.status, nobody.body.error.details[0].path]).toEqual([400, 'resident'])
    for (const { handle } of residents) expect(nobody.body.error.message).toContain(handle)
    expect((await answer(story, { resident: LENA, post: '1', text: 'Hm.' })).status).toBe(404)
    await story.send('DELETE', 'connection')
    expect((await say(story, { resident: LENA, text: 'Hm.' })).body.error.code).toBe(
      'x_not_connected',
    )
  })

  test('forgets the oldest of what it was told beyond the newest thousand', async () => {
    const story = await newStory(app)
    await app.owner`insert into resident_post (id, tenant_id, post_id, resident, text, created_at)
      select gen_random_uuid(), ${story.tenantId}, n::text, ${LENA}, 'Old.',
        now() - n * interval '1 minute'
      from generate_series(1, ${MOST_RESIDENT_POSTS}::int) n`
    await say(story, { resident: LENA, text: 'New.' })
    const rows = await app.owner<
      { post_id: string; text: string }[]
    >`select post_id, text from resident_post
      where tenant_id = ${story.tenantId} order by created_at`
    expect(rows).toHaveLength(MOST_RESIDENT_POSTS)
    expect(rows.map(({ post_id }) => post_id)).not.toContain(String(MOST_RESIDENT_POSTS))
    expect(rows.at(-1)).toMatchObject({ text: 'New.' })
  })
})
