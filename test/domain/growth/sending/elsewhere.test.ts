/** What a person is shown who looks for a post that may have gone out elsewhere. */
import { describe, expect, test } from 'bun:test'
import { elsewhereSince, lookOf } from '#domain/growth/sending/elsewhere'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import { at } from '#test/domain/records'

const post = (seconds: number): SeenPost => ({
  externalId: `at ${seconds}`,
  text: `${seconds}`,
  original: `${seconds}`,
  truncated: false,
  createdAt: at(seconds * 1_000),
  url: `https://network.example/${seconds}`,
})

const look = (posts: SeenPost[], candidates: SeenPost[] = [], complete = true) =>
  lookOf({
    posts,
    complete,
    since: at(),
    now: at(9_000_000),
    identified: { mayBeThere: candidates.length > 0, candidates },
  })

test('the account is read from a minute before the backup, since clocks differ', () => {
  expect(elsewhereSince(at(60_000))).toEqual(at())
})

test('the posts are shown newest first, with those marked that may be it', () => {
  const [early, late] = [post(1), post(2)]
  expect(look([early, late], [early])).toMatchObject({
    since: at(),
    read_at: at(9_000_000),
    complete: true,
    posts: [
      { external_id: 'at 2', is_candidate: false },
      {
        external_id: 'at 1',
        is_candidate: true,
        text: '1',
        is_cut: false,
        posted_at: at(1_000),
        url: 'https://network.example/1',
      },
    ],
  })
})

test('of many posts, the newest hundred are shown, and those that may be it however old', () => {
  const posts = Array.from({ length: 150 }, (_, index) => post(index))
  const ids = (candidates: SeenPost[]) =>
    look(posts, candidates).posts.map(({ external_id }) => external_id)
  expect(ids([])).toEqual(Array.from({ length: 100 }, (_, index) => `at ${149 - index}`))
  expect(ids([posts[3]!])).toEqual([
    ...Array.from({ length: 99 }, (_, index) => `at ${149 - index}`),
    'at 3',
  ])
  expect(look(posts, posts).posts).toHaveLength(100)
})

describe('what was seen', () => {
  const only = post(1)
  const seen = (identified: Parameters<typeof lookOf>[0]['identified'], complete = true) => {
    const { saw, complete: all } = lookOf({
      posts: [only],
      complete,
      since: at(),
      now: at(),
      identified,
    })
    return `${saw}, ${all ? 'all' : 'part'} of it read`
  }

  test.each([
    ['it', { post: only, mayBeThere: true, candidates: [only] }],
    ['unclear', { mayBeThere: true, candidates: [only] }],
    ['nothing', { mayBeThere: false, candidates: [] }],
  ])('is %s, also where more may stand there', (saw, identified) => {
    expect(seen(identified)).toBe(`${saw}, all of it read`)
    expect(seen(identified, false)).toBe(`${saw}, part of it read`)
  })
})
