/** Numbers of posts, as Bluesky's servers tell them. */
import { expect, test } from 'bun:test'
import { metricsIn } from '#port/network/bluesky/posts'

test('impressions and clicks are not counted, which is not the same as 0', () => {
  expect(metricsIn({ likeCount: 3, repostCount: 2, replyCount: 1, quoteCount: 4 })).toEqual({
    impressions: null,
    likes: 3,
    replies: 1,
    reposts: 2,
    quotes: 4,
    clicks: null,
  })
  expect(metricsIn({ likeCount: 'many', replyCount: -1 })).toMatchObject({
    impressions: null,
    likes: 0,
    replies: 0,
    clicks: null,
  })
})
