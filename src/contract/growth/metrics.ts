import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { nullable, oneOf, record, Time } from '../shapes.ts'

const sum = T.Integer({ minimum: 0 })
const bound = T.Number({ minimum: 0 })

const Period = record(
  {
    day: T.String({
      description:
        'The first day, as 2026-11-16, on the clocks of the profile. Weeks begin on Monday.',
    }),
    posts: T.Integer(),
    counts_impressions: T.Boolean({
      description:
        'False for posts whose network counts no impressions. They are never summed with others: a day on which both were posted comes twice.',
    }),
    measured: T.Integer({
      description:
        'n, on which the mean is based: how many of them have impressions or, where nobody counts those, any numbers.',
    }),
    impressions: nullable(sum),
    likes: sum,
    replies: sum,
    reposts: sum,
    quotes: sum,
    clicks: nullable(sum),
    engagement_rate: nullable(
      T.Number({ description: 'The mean of reactions per impression, 0 to 1.' }),
    ),
    reactions_per_post: nullable(
      T.Number({
        description: 'Their mean, instead of the rate, where nobody counts impressions.',
      }),
    ),
    interval: nullable(
      record(
        { low: bound, high: bound },
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
