import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { nullable, oneOf, record, Time } from '../shapes.ts'

const sum = T.Integer({ minimum: 0 })
const rate = T.Number({ minimum: 0, maximum: 1 })

const Period = record(
  {
    day: T.String({
      description:
        'The first day, as 2026-11-16, on the clocks of the profile. Weeks begin on Monday.',
    }),
    posts: T.Integer(),
    measured: T.Integer({
      description: 'n: how many of them have impressions, on which the rate is based.',
    }),
    impressions: sum,
    likes: sum,
    replies: sum,
    reposts: sum,
    quotes: sum,
    clicks: sum,
    engagement_rate: nullable(
      T.Number({ description: 'The mean of reactions per impression, 0 to 1.' }),
    ),
    interval: nullable(
      record(
        { low: rate, high: rate },
        { description: 'Of that mean, at 95 %; null below 2 measured posts.' },
      ),
    ),
  },
  { title: 'MetricPeriod' },
)

export const metrics = {
  list: op.query(
    'GET /api/v1/growth/metrics',
    'Read the numbers of posts by the day or week in which they were posted, newest first: the newest counts of each. Periods without posts are left out. Of the newest 10,000 posts.',
    {
      input: {
        by: T.Optional(
          oneOf(['day', 'week'], {
            default: 'day',
            description: 'Days, or weeks from Monday, of the time zone of the profile.',
          }),
        ),
        from: T.Optional({
          ...Time,
          description: 'Inclusive. Default: 30 days before to, or 84 with by=week.',
        }),
        to: T.Optional({
          ...Time,
          description: 'Exclusive, at most 366 days after from. Default: now.',
        }),
      },
      output: record({ metrics: T.Array(Period) }),
    },
  ),
}
